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

    /// - Parameters:
    ///   - merchantName: nil if the application belongs to no merchant, or to this server.
    ///   - isFirst: the user and the merchant have never met; otherwise an app on the device asks, and could be any.
    ///   - account: the user's name or e-mail address.
    ///   - switchTo: the path where another user signs in to the same request.
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
