public import Directory
public import Storage
public import Values

/// The stored access tokens.
public struct AccessTokens: Sendable {
    private let database: any Database
    private let clients: Clients
    private let clock: any WallClock

    public init(database: any Database, clients: Clients, clock: any WallClock) {
        self.database = database
        self.clients = clients
        self.clock = clock
    }

    /// Stores a new token, if `condition` holds.
    static func insertion(
        of fingerprint: Fingerprint<AccessToken>, for authorization: Authorization, family: TokenFamily.ID?,
        at now: Timestamp, when condition: SQL?
    ) -> SQL {
        // PostgreSQL takes untyped values for texts here.
        """
        INSERT INTO access_tokens (fingerprint, family_id, client_id, user_id, scope, rotation, issued_at, expires_at,
            resource)
        SELECT \(fingerprint), \(family), \(authorization.client.id),
            CAST(\(authorization.subject?.user) AS BIGINT), \(authorization.scope), \(authorization.rotation),
            CAST(\(now) AS BIGINT), CAST(\(now + authorization.lifetime) AS BIGINT),
            \(authorization.request.resource)
        WHERE \(condition ?? .always)
        ON CONFLICT (fingerprint) DO NOTHING
        """
    }

    /// The presented token, if it is live. Throws `invalid_token` otherwise.
    ///
    /// Presenting a token of a rotation confirms that rotation: from now on its predecessor is a replay.
    public func present(_ value: Secret<AccessToken>) async throws -> AccessToken {
        try await present(value) { _ in true }
    }

    /// As above, for a resource server of `merchant`: another merchant's token is unknown there, and does not confirm a
    /// rotation. Without a merchant, every token is unknown.
    public func present(_ value: Secret<AccessToken>, toMerchant merchant: Merchant.ID?) async throws -> AccessToken {
        try await present(value) { Merchant.same(merchant, $0.merchant) }
    }

    /// As above, for `client`, which introspects it: a self-registered client sees only its own tokens.
    func present(_ value: Secret<AccessToken>, to client: Client) async throws -> AccessToken {
        try await present(value) { client.sees(tokensOf: $0.client, of: $0.merchant) }
    }

    private func present(
        _ value: Secret<AccessToken>, isVisible: (AccessToken) -> Bool
    ) async throws -> AccessToken {
        let now = clock.now
        let fingerprint = value.fingerprint
        let found = try await database.rows(Self.query(fingerprint)).first.map(Found.init)
        let token = try Self.check(found, fingerprint, at: now)
        guard isVisible(token) else {
            throw OAuthError.tokenRefused("token_of_another_merchant")
        }
        if let rotation = found?.unconfirmedRotation {
            // Another tab may still ask for the tokens that were issued with this one, or before it.
            let isYoung = now - token.issuedAt <= Client.longestRefreshLeeway
            let client = isYoung ? try await clients.findLive(token.client) : nil
            let isInLeeway = client?.isInRefreshLeeway(now, of: token.issuedAt) ?? false
            // A repeated response may have ended the token since, and changes the same row.
            let isThere: SQL = "EXISTS (SELECT 1 FROM access_tokens WHERE fingerprint = \(fingerprint))"
            try await database.guardedWrite { db in
                try db.enqueue(
                    RefreshTokens.confirmation(of: rotation, at: now, isInLeeway: isInLeeway, when: isThere))
            }
        }
        return token
    }

    /// The family of a token that rests, because its client, merchant or issuer is disabled; nil for any other token,
    /// and for one of another resource server.
    func restingFamily(of value: Secret<AccessToken>) async throws -> TokenFamily.ID? {
        guard let found = try await database.rows(Self.query(value.fingerprint)).first.map(Found.init),
            case .rests = found.standing, found.token.resource == nil,
            clock.now < found.token.expiresAt, !found.isLeftBehind(at: clock.now)
        else { return nil }
        return found.token.family
    }

    /// The current state of `token`, which was presented a while ago: for a transaction that writes after a password
    /// was hashed or another server was asked. Throws `invalid_token` when the token has ended.
    public func again(_ token: AccessToken, in db: any Transaction) throws -> AccessToken {
        let found = try db.rows(Self.query(token.fingerprint)).first.map(Found.init)
        return try Self.check(found, token.fingerprint, at: clock.now)
    }

    /// The client that a token was issued to, live or not. It proves nothing, but tells which client sent the user.
    public func client(of value: Secret<AccessToken>) async throws -> Client.ID? {
        let fingerprint = value.fingerprint
        return try await database.read { db in
            try db.rows("SELECT client_id FROM access_tokens WHERE fingerprint = \(fingerprint)").first?.get(
                "client_id")
        }
    }

    /// Ends one token (RFC 7009).
    static func end(_ fingerprint: Fingerprint<AccessToken>, in db: any Transaction) throws {
        try db.execute("DELETE FROM access_tokens WHERE fingerprint = \(fingerprint)")
    }

    /// Reads everything that can end a token, each time: no revocation waits for a cache.
    private static func query(_ fingerprint: Fingerprint<AccessToken>) -> SQL {
        """
        SELECT t.fingerprint, t.family_id, t.client_id, t.user_id, t.scope, t.rotation, t.issued_at, t.expires_at,
            t.resource, a.resource AS resource_found, \(ClientKind.columns), c.scope AS client_scope,
            c.secret_ended_at, u.subject, f.path,
            f.signed_in_at, f.front_channel, s.expires_at AS session_expires_at, r.fingerprint AS rotation_found,
            r.confirmed_at, \(Standing.columns)
        FROM access_tokens t
        LEFT JOIN token_families f ON f.id = t.family_id
        \(Standing.whatTokensRestOn(of: "t"))
        LEFT JOIN client_resources a ON a.resource = t.resource AND a.client_id = t.client_id
        LEFT JOIN sessions s ON s.id = f.session_id AND f.front_channel = 1
        LEFT JOIN refresh_tokens r ON r.fingerprint = t.rotation
        WHERE t.fingerprint = \(fingerprint)
        """
    }

    private static func check(
        _ found: Found?, _ fingerprint: Fingerprint<AccessToken>, at now: Timestamp
    ) throws(OAuthError) -> AccessToken {
        guard let found else {
            // Expired tokens are deleted. The client of an expired token should refresh, which SPiD's SDKs do for this
            // error only. A token that was revoked alone gets the same answer: its refresh token is good.
            let isOld = fingerprint.time.map { now - $0 >= Client.shortestAccessTokenLifetime } ?? false
            throw .tokenRefused(isOld ? "expired_token" : "unknown_token")
        }
        let token = found.token
        switch found.standing {
        case .live: break
        case .rests(let reason), .ended(let reason): throw .tokenRefused(reason).of(token.user, at: token.client)
        }
        guard now < token.expiresAt, !found.isLeftBehind(at: now) else {
            throw .tokenRefused("expired_token").of(token.user, at: token.client)
        }
        return token
    }
}

/// The stored token and everything that may have ended it.
private struct Found {
    let token: AccessToken
    let unconfirmedRotation: Fingerprint<RefreshToken>?
    /// Whether it is good, apart from its expiry.
    let standing: Standing
    /// The expiry of the browser session that a front-channel token was issued in; nil when the session is gone.
    private let sessionEnd: Timestamp?

    /// Whether the token outlived its session, which a front-channel token must not.
    func isLeftBehind(at now: Timestamp) -> Bool {
        token.isOfFrontChannel && sessionEnd.map { $0 <= now } ?? true
    }

    init(_ row: Row) throws {
        let issuedAt: Timestamp = try row.get("issued_at")
        let clientScope: Scope = try row.get("client_scope")
        token = AccessToken(
            fingerprint: try row.get("fingerprint"), family: try row.get("family_id"), path: try row.get("path"),
            client: try row.get("client_id"), clientKind: try ClientKind(row),
            user: try row.get("user_id"), keptSubject: try row.get("subject"),
            // The client may have lost a scope since the token was issued.
            scope: try row.get("scope", as: Scope.self).intersection(clientScope),
            resource: try row.get("resource"),
            isOfFrontChannel: try row.get("front_channel", as: Bool?.self) ?? false,
            clientScope: clientScope, issuedAt: issuedAt, expiresAt: try row.get("expires_at"),
            signedInAt: try row.get("signed_in_at", as: Timestamp?.self) ?? issuedAt)
        let isConfirmed = try row.get("confirmed_at", as: Timestamp?.self) != nil
        unconfirmedRotation = isConfirmed ? nil : try row.get("rotation_found")
        standing = try Self.ended(row, token) ?? Standing(row, of: token.user)
        sessionEnd = try row.get("session_expires_at")
    }

    /// Why the token alone has ended, apart from what it rests on.
    private static func ended(_ row: Row, _ token: AccessToken) throws -> Standing? {
        // A holder of the ended secret may have got this token, and would keep making new ones.
        if token.user == nil, token.scope.administers, let end: Timestamp = try row.get("secret_ended_at"),
            token.issuedAt <= end
        {
            return .ended("secret_ended")
        }
        if token.resource != nil, try row.get("resource_found", as: String?.self) == nil {
            return .ended("resource_taken")
        }
        if token.family != nil, token.path == nil { return .ended("token_family_deleted") }
        return nil
    }
}
