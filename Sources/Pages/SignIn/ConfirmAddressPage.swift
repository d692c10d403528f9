/// Completes a sign-up that an app began, after its mailed link was opened. Posts `form_token` and `password` to
/// `action`.
public struct ConfirmAddressPage: PageContents {
    let action: String
    let formToken: String
    let email: String
    let clientName: String?
    let refusal: PageRefusal?

    /// - Parameter clientName: the app that signed the user up.
    public init(
        action: String, formToken: String, email: String, clientName: String? = nil, refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.email = email
        self.clientName = clientName
        self.refusal = refusal
    }
}
