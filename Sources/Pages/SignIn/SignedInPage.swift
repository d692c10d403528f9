/// Says who is signed in here. Its button posts `form_token` to `logoutAction`.
public struct SignedInPage: PageContents {
    let account: String
    let formToken: String
    let logoutAction: String
    let hasAccount: Bool

    /// - Parameters:
    ///   - account: the user's name or e-mail address.
    ///   - hasAccount: the session opens the account page.
    public init(account: String, formToken: String, logoutAction: String, hasAccount: Bool = true) {
        self.hasAccount = hasAccount
        self.account = account
        self.formToken = formToken
        self.logoutAction = logoutAction
    }
}
