public import Directory

/// What a client asked for along with a sign-in, for its tokens (OpenID Connect Core §3.1.2.1, RFC 8707).
public struct AuthenticationRequest: Sendable, Equatable {
    /// Returned in the first ID token only, and only if it was sent.
    public let nonce: String?
    public internal(set) var claims: ClaimsRequest?
    /// The audience of the access token, when that is not this server.
    public let resource: String?
    /// A developer's trial settings; nil for everyone else.
    public let trial: TokenTrial?

    public init(
        nonce: String? = nil, claims: ClaimsRequest? = nil, resource: String? = nil, trial: TokenTrial? = nil
    ) {
        self.nonce = nonce
        self.claims = claims
        self.resource = resource
        self.trial = trial
    }

    /// The part that holds for later tokens of the family too.
    var withoutNonce: AuthenticationRequest {
        AuthenticationRequest(claims: claims, resource: resource, trial: trial)
    }

    func aimed(at resource: String?) -> AuthenticationRequest {
        AuthenticationRequest(nonce: nonce, claims: claims, resource: resource, trial: trial)
    }

    func trying(_ trial: TokenTrial?) -> AuthenticationRequest {
        AuthenticationRequest(nonce: nonce, claims: claims, resource: resource, trial: trial)
    }

    /// The lifetime of an ID token for `client`.
    public func idTokenLifetime(of client: Client) -> Duration {
        trial?.idTokenLifetime ?? client.openID.idTokenLifetime
    }

    public static let none = AuthenticationRequest()
}
