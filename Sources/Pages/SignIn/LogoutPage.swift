/// Asks whether to sign out, since a link alone must not do that. Posts `form_token` and `fields` to `action`.
public struct LogoutPage: PageContents {
    let account: String
    let action: String
    let formToken: String
    let fields: [HiddenField]

    public init(account: String, action: String, formToken: String, fields: [HiddenField] = []) {
        self.account = account
        self.action = action
        self.formToken = formToken
        self.fields = fields
    }
}
