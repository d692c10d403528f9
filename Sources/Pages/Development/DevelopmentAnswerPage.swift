/// The response that an application got, its tokens, and what can be done with them, for developers without an
/// application. In development mode only.
///
/// Posts `form_token`, `trial` and `call` to `action`.
public struct DevelopmentAnswerPage: PageContents {
    /// A token, decoded if it is a JWT.
    public struct Token: Sendable {
        let title: String
        let value: String
        let decoded: Decoded?

        public struct Decoded: Sendable {
            let header: String
            let claims: String
            let expiry: String?
            let verdict: String
            let isGood: Bool

            public init(header: String, claims: String, expiry: String?, verdict: String, isGood: Bool) {
                self.header = header
                self.claims = claims
                self.expiry = expiry
                self.verdict = verdict
                self.isGood = isGood
            }
        }

        public init(title: String, value: String, decoded: Decoded?) {
            self.title = title
            self.value = value
            self.decoded = decoded
        }

        fileprivate var words: [String: Any] {
            var words: [String: Any] = ["title": title, "value": value, "isOpaque": decoded == nil]
            guard let decoded else { return words }
            words["header"] = decoded.header
            words["claims"] = decoded.claims
            words["expiry"] = decoded.expiry
            words[decoded.isGood ? "good" : "bad"] = decoded.verdict
            return words
        }
    }

    /// A request to this server, with its answer.
    public struct Call: Sendable {
        let title: String
        let command: String
        let status: String
        let answer: String?

        public init(title: String, command: String, status: String, answer: String?) {
            self.title = title
            self.command = command
            self.status = status
            self.answer = answer
        }
    }

    /// The form with the calls that the tokens allow.
    public struct Deeds: Sendable {
        let action: String
        let formToken: String
        let trial: String
        let calls: [HiddenField]

        /// - Parameter calls: the values of `call`, each with the text of its button.
        public init(action: String, formToken: String, trial: String, calls: [HiddenField]) {
            self.action = action
            self.formToken = formToken
            self.trial = trial
            self.calls = calls
        }

        fileprivate var words: [String: Any] {
            [
                "action": action, "formToken": formToken, "trial": trial,
                "calls": calls.map { ["name": $0.name, "title": $0.value] },
            ]
        }
    }

    let fields: [HiddenField]
    let tokens: [Token]
    let calls: [Call]
    let deeds: Deeds?
    let fault: String?
    let again: String

    /// - Parameters: `fields` are the response's parameters. `calls` begin with the newest. `fault` says why there are
    ///   no tokens. `again` is the URL to try again at.
    public init(
        fields: [HiddenField], tokens: [Token] = [], calls: [Call] = [], deeds: Deeds? = nil, fault: String? = nil,
        again: String
    ) {
        self.fields = fields
        self.tokens = tokens
        self.calls = calls
        self.deeds = deeds
        self.fault = fault
        self.again = again
    }

    func words(_ texts: Texts) -> [String: Any] {
        var words: [String: Any] = [
            "hasFields": !fields.isEmpty, "hasCalls": !calls.isEmpty, "tokens": tokens.map(\.words),
        ]
        words["deeds"] = deeds?.words
        return words
    }
}
