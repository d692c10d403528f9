/// Asks for the six digits in a mail, or in a text message. Posts `form_token`, `verification`, `continue`, `email` and
/// `code` to `action`.
public struct CodePage: PageContents {
    /// What the digits are for.
    public enum Purpose: String, CaseIterable, Sendable {
        case signIn, signUp, verifyEmail, changeEmail, verifyPhone
    }

    let action: String
    let formToken: String
    let verification: String
    let continueTo: String
    let email: String
    let purpose: Purpose
    let startOver: String
    let refusal: PageRefusal?

    /// - Parameters:
    ///   - email: where the mail went, or the text message.
    ///   - startOver: the path of the page where another mail can be requested.
    public init(
        action: String, formToken: String, verification: String, continueTo: String, email: String, purpose: Purpose,
        startOver: String, refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.verification = verification
        self.continueTo = continueTo
        self.email = email
        self.purpose = purpose
        self.startOver = startOver
        self.refusal = refusal
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = ["button": texts["code.button.\(purpose)"], "about": texts["code.about.\(purpose)"]]
        words["refusal"] = refusal?.words(texts)
        return words
    }

    /// Every text that `words` may ask for.
    static let keys = Purpose.allCases.flatMap { ["code.button.\($0)", "code.about.\($0)"] }
}
