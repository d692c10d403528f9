import Directory
public import Keys
public import Storage
public import Values

/// Revokes a token when its holder asks for it (RFC 7009).
public struct Revocation: Sendable {
    private let database: any Database
    private let clients: ClientAuthenticator
    private let callbacks: Callbacks
    private let seal: Seal
    private let clock: any WallClock

    public init(
        database: any Database, clients: ClientAuthenticator, callbacks: Callbacks, seal: Seal,
        clock: any WallClock
    ) {
        self.database = database
        self.clients = clients
        self.callbacks = callbacks
        self.seal = seal
        self.clock = clock
    }

    /// Revokes an access token, or a refresh token with its whole family. An unknown token is no error (§2.2).
    ///
    /// A client may revoke its own tokens. A confidential first-party client may revoke any token of its merchant that
    /// it holds, so that a backend can end what a device gave it. Browser sessions that the family bought end too, and
    /// their clients are told. Another merchant's token does not change.
    ///
    /// A disabled client is refused, but its own token still ends: otherwise the token would work again later, though
    /// its user has signed out.
    public func revoke(_ parameters: Parameters, from credentials: ClientCredentials) async throws {
        let value = try parameters.require(.token)
        let (client, isLive) = try await clients.prove(credentials, alsoDisabled: true)
        let now = clock.now
        let announcement = callbacks.announcement(at: now)
        let access = Secret<AccessToken>(value).fingerprint
        let refresh = Secret<RefreshToken>(value)
        // The text of a forgotten token tells its family.
        let named = RefreshToken.family(of: refresh, markedBy: seal)
        try await database.write { db in
            if let owner = try Self.owner(ofAccessToken: access, in: db) {
                if owner.mayBeRevoked(by: client, isLive) { try AccessTokens.end(access, in: db) }
            } else if let owner = try Self.owner(ofRefreshToken: refresh.fingerprint, or: named, in: db),
                let family = owner.family
            {
                if owner.mayBeRevoked(by: client, isLive) {
                    try TokenFamilies.end(family, by: client, because: "revoked", telling: announcement, in: db)
                }
            }
        }
        announcement.send()
        guard isLive else { throw OAuthError.clientRefused("disabled_client", client.id) }
    }

    private struct Owner {
        let client: Client.ID
        let merchant: Merchant.ID?
        let family: TokenFamily.ID?

        func mayBeRevoked(by other: Client, _ isLive: Bool) -> Bool {
            client == other.id || (isLive && other.may(.revokeForOthers) && other.sees(tokensOf: client, of: merchant))
        }
    }

    private static func owner(
        ofAccessToken fingerprint: Fingerprint<AccessToken>, in db: any Transaction
    ) throws -> Owner? {
        try db.rows(
            """
            SELECT c.id, c.merchant_id, t.family_id FROM access_tokens t JOIN clients c ON c.id = t.client_id
            WHERE t.fingerprint = \(fingerprint)
            """
        ).first.map(owner)
    }

    private static func owner(
        ofRefreshToken fingerprint: Fingerprint<RefreshToken>, or named: TokenFamily.ID?, in db: any Transaction
    ) throws -> Owner? {
        try db.rows(
            """
            SELECT c.id, c.merchant_id, f.id AS family_id FROM token_families f JOIN clients c ON c.id = f.client_id
            WHERE f.id = COALESCE(
                (SELECT family_id FROM refresh_tokens WHERE fingerprint = \(fingerprint)), \(named))
            """
        ).first.map(owner)
    }

    private static func owner(_ row: Row) throws -> Owner {
        Owner(
            client: try row.get("id"), merchant: try row.get("merchant_id"), family: try row.get("family_id"))
    }
}
