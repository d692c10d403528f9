/// Ends a sign-up by its mailed link. Posts `form_token` and, if it is asked for, `password` to `action`.
public struct SignUpConfirmPage: PageContents {
    let action: String
    let formToken: String
    let email: String
    let asksPassword: Bool
    let refusal: PageRefusal?

    /// - Parameter asksPassword: the link was opened in another browser than the one that signed up.
    public init(
        action: String, formToken: String, email: String, asksPassword: Bool, refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.email = email
        self.asksPassword = asksPassword
        self.refusal = refusal
    }
}
