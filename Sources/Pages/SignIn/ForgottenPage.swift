import Text

/// Asks where to mail a link that sets a new password. Posts `form_token`, `continue` and `email` to `action`.
public struct ForgottenPage: PageContents {
    let action: String
    let formToken: String
    let continueTo: String
    let email: String
    let refusal: PageRefusal?

    public init(
        action: String, formToken: String, continueTo: String, email: String = "", refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.continueTo = continueTo
        self.email = email
        self.refusal = refusal
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = ["onward": PercentEncoding.encode(continueTo)]
        words["refusal"] = refusal?.words(texts)
        return words
    }
}

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
