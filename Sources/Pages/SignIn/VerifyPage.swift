/// Says that the address must be verified first. Its button, which sends a code, posts `form_token` and `continue` to
/// `action`.
public struct VerifyPage: PageContents {
    let action: String
    let formToken: String
    let continueTo: String
    let email: String
    let refusal: PageRefusal?

    public init(
        action: String, formToken: String, continueTo: String, email: String, refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.continueTo = continueTo
        self.email = email
        self.refusal = refusal
    }

    func words(_ texts: Texts) -> [String: Any] { refusal.map { ["refusal": $0.words(texts)] } ?? [:] }
}

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
