/// Completes a sign-up by its mailed link. Posts `form_token` and, if it is asked for, `password` to `action`.
public struct SignUpConfirmPage: PageContents {
    let action: String
    let formToken: String
    let email: String
    let asksPassword: Bool
    let terms: [TermsLink]
    let refusal: PageRefusal?

    /// - Parameters:
    ///   - asksPassword: the link was opened in another browser than the one that signed up.
    ///   - terms: what the user agrees to there.
    public init(
        action: String, formToken: String, email: String, asksPassword: Bool, terms: [TermsLink] = [],
        refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.email = email
        self.asksPassword = asksPassword
        self.terms = terms
        self.refusal = refusal
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = ["terms": terms.map(\.words)]
        words["refusal"] = refusal?.words(texts)
        return words
    }
}
