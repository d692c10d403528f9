public import Directory

/// What a client asked for along with a sign-in, and its tokens tell (OpenID Connect Core §3.1.2.1, RFC 8707).
public struct AuthenticationRequest: Sendable, Equatable {
    /// Told in the first ID token only, and never one that was not sent.
    public let nonce: String?
    public let claims: ClaimsRequest?
    /// Whom the access token is for, besides us.
    public let resource: String?
    /// What a developer tries out; nil for everybody else.
    public let trial: TokenTrial?

    public init(
        nonce: String? = nil, claims: ClaimsRequest? = nil, resource: String? = nil, trial: TokenTrial? = nil
    ) {
        self.nonce = nonce
        self.claims = claims
        self.resource = resource
        self.trial = trial
    }

    /// What later tokens of the permission tell too.
    var withoutNonce: AuthenticationRequest {
        AuthenticationRequest(claims: claims, resource: resource, trial: trial)
    }

    func aimed(at resource: String?) -> AuthenticationRequest {
        AuthenticationRequest(nonce: nonce, claims: claims, resource: resource, trial: trial)
    }

    func trying(_ trial: TokenTrial?) -> AuthenticationRequest {
        AuthenticationRequest(nonce: nonce, claims: claims, resource: resource, trial: trial)
    }

    /// What an ID token of `client` lives.
    public func idTokenLifetime(of client: Client) -> Duration {
        trial?.idTokenLifetime ?? client.openID.idTokenLifetime
    }

    public static let none = AuthenticationRequest()
}
