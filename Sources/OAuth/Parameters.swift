public import Directory
public import Values

/// The request parameters that Spindle knows. Others are ignored (RFC 6749 §3.1, §3.2).
public enum Parameter: String, Sendable, Hashable, CaseIterable {
    case grantType = "grant_type"
    case clientID = "client_id"
    case clientSecret = "client_secret"
    case code
    case redirectURI = "redirect_uri"
    case codeVerifier = "code_verifier"
    case refreshToken = "refresh_token"
    case username
    case password
    case scope
    case assertion
    case token
    case tokenTypeHint = "token_type_hint"
    case accessToken = "access_token"
    case oauthToken = "oauth_token"
    case exchangeClientID = "clientId"
    case exchangeRedirectURI = "redirectUri"
    case type
    case responseType = "response_type"
    case responseMode = "response_mode"
    case state
    case codeChallenge = "code_challenge"
    case codeChallengeMethod = "code_challenge_method"
    case prompt
    case maxAge = "max_age"
    case nonce
    case loginHint = "login_hint"
    case uiLocales = "ui_locales"
    case cancelRedirectURI = "cancel_redirect_uri"
    case claims
    case resource
    case request
    case requestURI = "request_uri"
    case registration
    case idTokenHint = "id_token_hint"
    case acrValues = "acr_values"
    case accessType = "access_type"
    case clientAssertion = "client_assertion"
    case clientAssertionType = "client_assertion_type"
    case subjectToken = "subject_token"
    case subjectTokenType = "subject_token_type"
    case requestedTokenType = "requested_token_type"
    case actorToken = "actor_token"
    case actorTokenType = "actor_token_type"
    case audience
    case postLogoutRedirectURI = "post_logout_redirect_uri"
    /// Auth0's SDKs use this name for the address after a logout.
    case returnTo
    /// SPiD's SDKs for apps send this and the next to `/oauth/ro`, beside the mailed code.
    case passwordlessToken = "passwordless_token"
    case identifier
    /// SPiD's SDKs for browsers use this name for the client.
    case clientSDRN = "client_sdrn"
    case logoutScope = "logout_scope"
}

/// The known parameters of one request: each at most once, none empty.
public struct Parameters: Sendable {
    /// The parameters that were sent, including those without a value. A request has a handful, so a linear search is
    /// faster than a hash.
    private let sent: [(parameter: Parameter, value: String)]
    /// Whether `resource` or `audience` occurs more than once.
    let namesSeveralResources: Bool

    /// Refuses a known parameter that occurs twice (RFC 6749 §3.2); one without a value counts as omitted.
    public init(_ pairs: some Sequence<(name: String, value: String)>) throws(OAuthError) {
        var sent: [(parameter: Parameter, value: String)] = []
        sent.reserveCapacity(pairs.underestimatedCount)
        var namesSeveralResources = false
        for (name, value) in pairs {
            guard let parameter = Parameter(rawValue: name) else { continue }
            guard !sent.contains(where: { $0.parameter == parameter }) else {
                // RFC 8707 §2 and RFC 8693 §2.1 allow these to repeat, but an access token is for one resource only.
                guard parameter == .resource || parameter == .audience else { throw .repeated(parameter) }
                namesSeveralResources = true
                continue
            }
            // All of OAuth is text. A NUL cannot be stored, and no honest request contains one.
            guard !value.utf8.span.contains(0) else { throw .malformed(parameter, "it contains a NUL") }
            sent.append((parameter, value))
        }
        self.sent = sent
        self.namesSeveralResources = namesSeveralResources
    }

    public subscript(parameter: Parameter) -> String? {
        sent.first { $0.parameter == parameter }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// The value of `parameter`, or `invalid_request`.
    public func require(_ parameter: Parameter) throws(OAuthError) -> String {
        guard let value = self[parameter] else { throw .missing(parameter) }
        return value
    }

    /// The value under either of two spellings. Both at once count as a repetition unless they are equal.
    public func either(_ first: Parameter, _ second: Parameter) throws(OAuthError) -> String? {
        let (one, other) = (self[first], self[second])
        guard one == nil || other == nil || one == other else { throw .repeated(first) }
        return one ?? other
    }
}

extension Span<UInt8> {
    fileprivate func contains(_ byte: UInt8) -> Bool {
        for index in indices where self[index] == byte { return true }
        return false
    }
}

extension Client.ID {
    /// The client in the resource name that SPiD's SDKs for browsers send: `sdrn:spid.no:client:ID`. Nil for any other
    /// text.
    public init?(sdrn text: String) {
        guard let match = text.wholeMatch(of: /sdrn:[A-Za-z0-9.\-]{1,100}:client:([A-Za-z0-9._\-]{1,100})/) else {
            return nil
        }
        self.init(String(match.output.1))
    }
}
