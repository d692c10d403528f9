import Directory
public import Storage
public import Values

/// Revokes a token when its holder asks for it (RFC 7009).
public struct Revocation: Sendable {
    private let database: any Database
    private let clients: ClientAuthenticator
    private let callbacks: Callbacks
    private let clock: any WallClock

    public init(
        database: any Database, clients: ClientAuthenticator, callbacks: Callbacks, clock: any WallClock
    ) {
        self.database = database
        self.clients = clients
        self.callbacks = callbacks
        self.clock = clock
    }

    /// Revokes an access token, or a refresh token with its whole family. An unknown token is no error (§2.2).
    ///
    /// A client may revoke its own tokens. A confidential first-party client may revoke any of its merchant's that it
    /// holds, so that a backend can end what a device gave it. Browser sessions that the family bought end too, and
    /// their clients are told. For another merchant's token, nothing changes and nobody is told.
    ///
    /// A disabled client is refused, and its own token ends all the same: otherwise it would live again, though its
    /// user has signed out.
    public func revoke(_ parameters: Parameters, from credentials: ClientCredentials) async throws {
        let value = try parameters.require(.token)
        let (client, isLive) = try await clients.prove(credentials, alsoDisabled: true)
        let announcement = callbacks.announcement(at: clock.now)
        let access = Secret<AccessToken>(value).fingerprint
        let refresh = Secret<RefreshToken>(value).fingerprint
        try await database.write { db in
            if let owner = try Self.owner(ofAccessToken: access, in: db) {
                if owner.mayBeRevoked(by: client, isLive) {
                    try AccessTokens.end(access, in: db)
                    try SessionBuyers.forget(access, in: db)
                }
            } else if let owner = try Self.owner(ofRefreshToken: refresh, in: db), let family = owner.family {
                if owner.mayBeRevoked(by: client, isLive) {
                    try TokenFamilies.end(family, telling: announcement, in: db)
                }
            } else if let owner = try Self.owner(ofBuyer: access, in: db), owner.mayBeRevoked(by: client, isLive) {
                try SessionBuyers.forget(access, in: db)
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
            client == other.id || (isLive && !other.isPublic && other.sees(tokensOf: client, of: merchant))
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

    /// Of a token that has expired and is forgotten, and that bought a session.
    private static func owner(
        ofBuyer fingerprint: Fingerprint<AccessToken>, in db: any Transaction
    ) throws -> Owner? {
        try db.rows(
            """
            SELECT c.id, c.merchant_id, b.family_id FROM session_buyers b
            JOIN token_families p ON p.id = b.family_id JOIN clients c ON c.id = p.client_id
            WHERE b.fingerprint = \(fingerprint)
            """
        ).first.map(owner)
    }

    private static func owner(
        ofRefreshToken fingerprint: Fingerprint<RefreshToken>, in db: any Transaction
    ) throws -> Owner? {
        try db.rows(
            """
            SELECT c.id, c.merchant_id, p.id AS family_id FROM refresh_tokens r
            JOIN token_families p ON p.id = r.family_id JOIN clients c ON c.id = p.client_id
            WHERE r.fingerprint = \(fingerprint)
            """
        ).first.map(owner)
    }

    private static func owner(_ row: Row) throws -> Owner {
        Owner(
            client: try row.get("id"), merchant: try row.get("merchant_id"), family: try row.get("family_id"))
    }
}
