/// Asks whether to sign out, since a link alone must not do that. Posts `form_token` and `fields` to `action`.
public struct LogoutPage: PageContents {
    let account: String
    let action: String
    let formToken: String
    let leaving: String?
    let fields: [HiddenField]

    /// - Parameter leaving: the only application that the user signs out of; nil for the whole browser.
    public init(
        account: String, action: String, formToken: String, leaving: String? = nil, fields: [HiddenField] = []
    ) {
        self.leaving = leaving
        self.account = account
        self.action = action
        self.formToken = formToken
        self.fields = fields
    }
}
