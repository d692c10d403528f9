/// Asks for a new password, after a mailed link was opened. Posts `form_token` and `password` to `action`.
public struct NewPasswordPage: PageContents {
    let action: String
    let formToken: String
    let email: String
    let refusal: PageRefusal?

    /// - Parameter email: the user's address, to show and for password managers.
    public init(action: String, formToken: String, email: String, refusal: PageRefusal? = nil) {
        self.action = action
        self.formToken = formToken
        self.email = email
        self.refusal = refusal
    }
}
