public import Directory
public import Values

/// A live access token, with everything that an endpoint needs to decide a request.
public struct AccessToken: Sendable {
    public let fingerprint: Fingerprint<AccessToken>
    /// Nil for a client's own token.
    public let family: TokenFamily.ID?
    /// The path of its family.
    let path: TokenFamily.Path?
    public let client: Client.ID
    /// The present kind of its client.
    package let clientKind: ClientKind
    public let user: UserID?
    /// The user's `sub`, if an import kept one that is not their number.
    public let keptSubject: String?
    public let scope: Scope
    /// The audience, when that is not this server (RFC 8707).
    public let resource: String?
    /// Whether it came in an authorization response, through the browser, and not from the token endpoint.
    public let isOfFrontChannel: Bool
    /// The client's registered scope now, which may be less than when the token was issued.
    public let clientScope: Scope
    public let issuedAt: Timestamp
    public let expiresAt: Timestamp
    /// When the user last authenticated; for a client's own token, when it was issued.
    public let signedInAt: Timestamp

    /// Nil for a token of the platform's own client.
    public var merchant: Merchant.ID? { clientKind.merchant }

    /// Whether its client has the right.
    public func may(_ right: ClientRight) -> Bool { clientKind.may(right) }

    /// Refuses a token for another resource server: that server must not use here the tokens that users present to it
    /// (RFC 8707 §1, RFC 9068 §4).
    public func requireUs() throws(OAuthError) {
        guard resource == nil else { throw .tokenForResource }
    }

    /// Requires `scope` (RFC 6750 §3.1 `insufficient_scope`).
    public func require(_ scope: String) throws(OAuthError) {
        guard self.scope.contains(scope) else { throw .scopeMissing(scope) }
    }
}

extension AccessToken {
    /// A client's own token for a single request of `client`, which has just authenticated. It is not stored, so it can
    /// be neither presented nor revoked.
    package static func own(of client: Client, at now: Timestamp) -> AccessToken {
        AccessToken(
            fingerprint: Secret<AccessToken>("").fingerprint, family: nil, path: nil, client: client.id,
            clientKind: client.kind, user: nil, keptSubject: nil, scope: client.scope.byDefault, resource: nil,
            isOfFrontChannel: false, clientScope: client.scope, issuedAt: now,
            expiresAt: now + client.renewableTokenLifetime, signedInAt: now)
    }
}
