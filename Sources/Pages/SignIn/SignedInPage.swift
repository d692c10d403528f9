/// Says who is signed in here. Its button posts `form_token` to `logoutAction`.
public struct SignedInPage: PageContents {
    let account: String
    let formToken: String
    let logoutAction: String

    /// - Parameter account: the user's name or e-mail address.
    public init(account: String, formToken: String, logoutAction: String) {
        self.account = account
        self.formToken = formToken
        self.logoutAction = logoutAction
    }
}
