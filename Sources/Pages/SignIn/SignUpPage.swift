import Text

/// Asks for the data of a new user. Posts `form_token`, `continue`, `terms`, `email`, `password` and `name` to
/// `action`.
public struct SignUpPage: PageContents {
    let action: String
    let formToken: String
    let continueTo: String
    let email: String
    let name: String
    let clientName: String?
    let terms: [TermsLink]
    let ways: [SignInWay]
    let refusal: PageRefusal?

    public init(
        action: String, formToken: String, continueTo: String, email: String = "", name: String = "",
        clientName: String? = nil, terms: [TermsLink] = [], ways: [SignInWay] = [], refusal: PageRefusal? = nil
    ) {
        self.action = action
        self.formToken = formToken
        self.continueTo = continueTo
        self.email = email
        self.name = name
        self.clientName = clientName
        self.terms = terms
        self.ways = ways
        self.refusal = refusal
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = [
            "onward": PercentEncoding.encode(continueTo), "terms": terms.map(\.words), "ways": ways.map(\.words),
            "hasWays": !ways.isEmpty,
        ]
        words["refusal"] = refusal?.words(texts)
        return words
    }
}

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
