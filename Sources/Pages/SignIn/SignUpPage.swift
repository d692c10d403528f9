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
