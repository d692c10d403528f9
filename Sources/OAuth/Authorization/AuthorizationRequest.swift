import Values

/// A valid authorization request (RFC 6749 §4.1.1), from a client that may make it.
public struct AuthorizationRequest: Sendable {
    /// What the client wants back.
    public enum ResponseType: String, Sendable {
        case code
        /// Nothing but the browser (OAuth 2.0 Multiple Response Type Encoding Practices §4).
        case none
    }

    public let returnAddress: ReturnAddress
    public let responseType: ResponseType
    public let scope: Scope
    public let challenge: CodeChallenge?
    public let authentication: AuthenticationRequest
    public let prompt: Set<Prompt>
    /// The oldest sign-in the client takes.
    public let maxAge: Duration?
    public let loginHint: String?

    public init(_ parameters: Parameters, returnAddress: ReturnAddress) throws(OAuthError) {
        let client = returnAddress.client
        guard let responseType = ResponseType(rawValue: try parameters.require(.responseType)) else {
            throw OAuthError(.unsupportedResponseType, "response_type", "response_type must be 'code' or 'none'.")
        }
        self.responseType = responseType
        try ResponseMode.check(parameters, for: returnAddress.redirectURI)
        guard client.may(.authorizationCode) else { throw .grantNotAllowed(client.id) }
        challenge = try CodeChallenge.read(parameters)
        // RFC 9700 §2.1.1: public clients must use PKCE.
        guard challenge != nil || !client.isPublic || responseType == .none else { throw .missing(.codeChallenge) }
        scope = try client.granted(parameters[.scope], within: client.scope.withoutAdministration)
        authentication = AuthenticationRequest(nonce: parameters[.nonce])
        prompt = try Prompt.read(parameters)
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
}
