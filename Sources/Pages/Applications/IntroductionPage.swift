/// Shows a signed-in user which merchant an application belongs to, before it learns who they are.
///
/// Posts `form_token`, `request` and `decision`, which is `continue` or `cancel`, to `action`.
public struct IntroductionPage: PageContents {
    let clientName: String
    let merchantName: String
    let isFirst: Bool
    let action: String
    let formToken: String
    let request: String
    let account: String
    let switchTo: String

    /// - Parameters: `merchantName` is nil if the application belongs to no merchant, or to this server. `isFirst`: the
    ///   merchant is new to the user; otherwise any app on the device could be asking. `account` is the user's name or
    ///   e-mail address. `switchTo` is the path where another user signs in to the same request.
    public init(
        clientName: String, merchantName: String?, isFirst: Bool, action: String, formToken: String, request: String,
        account: String, switchTo: String
    ) {
        self.clientName = clientName
        self.merchantName = merchantName ?? ""
        self.isFirst = isFirst
        self.action = action
        self.formToken = formToken
        self.request = request
        self.account = account
        self.switchTo = switchTo
    }

    func words(_ texts: Texts) -> [String: Any] {
        ["isOfMerchant": !merchantName.isEmpty, "met": merchantName.isEmpty ? clientName : merchantName]
    }
}
