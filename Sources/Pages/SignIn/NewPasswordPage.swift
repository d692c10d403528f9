/// Asks for a new password, at the end of a mailed link. Posts `form_token` and `password` to `action`.
public struct NewPasswordPage: PageContents {
    let action: String
    let formToken: String
    let email: String
    let refusal: PageRefusal?

    /// - Parameter email: the account's, for the eye and for password keepers.
    public init(action: String, formToken: String, email: String, refusal: PageRefusal? = nil) {
        self.action = action
        self.formToken = formToken
        self.email = email
        self.refusal = refusal
    }
}
