public import Values

/// A valid authorization request (RFC 6749 §4.1.1), from a client that may make it.
public struct AuthorizationRequest: Sendable {
    public let returnAddress: ReturnAddress
    public let scope: Scope
    public let challenge: CodeChallenge?
    public let nonce: String?
    public let prompt: Set<String>
    /// The oldest sign-in the client takes.
    public let maxAge: Duration?
    public let loginHint: String?

    public init(_ parameters: Parameters, returnAddress: ReturnAddress) throws(OAuthError) {
        let client = returnAddress.client
        guard let responseType = parameters[.responseType] else { throw .missing(.responseType) }
        guard responseType == "code" else {
            throw OAuthError(.unsupportedResponseType, "response_type", "response_type must be 'code'.")
        }
        if let mode = parameters[.responseMode], mode != "query" {
            throw .malformed(.responseMode, "'query' is the only mode")
        }
        guard client.may(.authorizationCode) else { throw .grantNotAllowed(client.id) }
        challenge = try CodeChallenge.read(parameters)
        // RFC 9700 §2.1.1: public clients must use PKCE.
        guard challenge != nil || !client.isPublic else { throw .missing(.codeChallenge) }
        scope = try client.granted(parameters[.scope], within: client.scope.withoutAdministration)
        nonce = parameters[.nonce]
        prompt = Set((parameters[.prompt] ?? "").split(separator: " ").map(String.init))
        guard !prompt.contains("none") || prompt.count == 1 else {
            throw .malformed(.prompt, "'none' stands alone")
        }
        if let text = parameters[.maxAge] {
            guard let seconds = Int64(text), (0...1_000_000_000).contains(seconds) else {
                throw .malformed(.maxAge, "a whole number of seconds")
            }
            maxAge = .seconds(seconds)
        } else {
            maxAge = nil
        }
        loginHint = parameters[.loginHint]
        self.returnAddress = returnAddress
    }

    /// What to do next for a browser in which `subject` is signed in, or nobody.
    public enum Step: Sendable, Equatable {
        case signIn
        case consent
        case respond
        case refuse(OAuthError.Code)
    }

    /// The whole decision, purely.
    ///
    /// `prompt=login` asks whatever session there is, one bought with a session code included; the login page's way
    /// back leaves the prompt out. A bought session carries the sign-in time of its token, so `max_age` is honest too.
    public func next(for subject: Subject?, consented: Bool, at now: Timestamp) -> Step {
        let silent = prompt.contains("none")
        // OpenID Connect Core §3.1.2.1: max_age=0 is prompt=login.
        let asksAgain = !prompt.isDisjoint(with: ["login", "select_account"]) || maxAge == .zero
        guard let subject, !asksAgain, isFresh(subject, at: now) else {
            return silent ? .refuse(.loginRequired) : .signIn
        }
        let needsConsent = !returnAddress.client.firstParty || prompt.contains("consent")
        guard !needsConsent || consented else { return silent ? .refuse(.consentRequired) : .consent }
        return .respond
    }

    private func isFresh(_ subject: Subject, at now: Timestamp) -> Bool {
        guard let maxAge else { return true }
        return now - subject.signedInAt <= maxAge
    }
}
