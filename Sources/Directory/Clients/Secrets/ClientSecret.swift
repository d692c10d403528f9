import Audit
import Cryptography
import JSON
import Keys
import Storage
public import Values

/// One of a client's live secrets. Its value is shown once.
public struct ClientSecret: Sendable {
    public typealias ID = Identifier<ClientSecret>
    public let id: ID
    public let createdAt: Timestamp
}

extension Clients {
    /// Two may be live at once, so that a secret can be rotated without an outage.
    public static let mostSecrets = 2

    /// Adds a second live secret. Nil when the client already has two, or does not authenticate with a secret.
    public func addSecret(
        to id: Client.ID, by authority: some ClientAuthority
    ) async throws -> (secret: ClientSecret, value: Secret<Client>)? {
        let secret = ClientSecret(id: .random(from: random), createdAt: clock.now)
        let value = Secret<Client>.random(from: random)
        let trail = AuditTrail(by: authority.actor, at: secret.createdAt, random: random)
        let added = try await database.write { db in
            try authority.confirm(in: db)
            guard let client = try Self.find(id, in: db) else { return false }
            try authority.permit(settingSecretsOf: client)
            guard client.authentication.takesSecret else { return false }
            let live = try db.rows("SELECT id FROM client_secrets WHERE client_id = \(id) AND id <> \(secret.id)")
            guard live.count < Self.mostSecrets else { return false }
            try Self.insert(value, id: secret.id, of: id, at: secret.createdAt, in: db)
            try trail.record(
                "client.secret_added", on: .client(id), merchant: client.merchant?.text, client: id.text,
                after: .members(["secret_id": .string(secret.id.text)]), in: db)
            return true
        }
        guard added else { return nil }
        known.forget(id)
        return (secret, value)
    }

    public func secrets(of id: Client.ID) async throws -> [ClientSecret] {
        try await database.read { db in
            try db.rows("SELECT id, created_at FROM client_secrets WHERE client_id = \(id) ORDER BY created_at, id")
                .map { ClientSecret(id: try $0.get("id"), createdAt: try $0.get("created_at")) }
        }
    }

    /// Deletes a secret; false if the client has no such secret. Tokens that the client got by itself no longer
    /// administer: a thief could use one to add another secret.
    public func endSecret(
        _ secret: ClientSecret.ID, of id: Client.ID, by authority: some ClientAuthority
    ) async throws -> Bool {
        guard let client = try await find(id) else { return false }
        try authority.permit(settingSecretsOf: client)
        // Asked first: if the transaction runs again after a COMMIT of unknown outcome, there is nothing left to
        // delete.
        guard try await secrets(of: id).contains(where: { $0.id == secret }) else { return false }
        let trail = AuditTrail(by: authority.actor, at: clock.now, random: random)
        try await database.write { [clock] db in
            let gone = try db.execute("DELETE FROM client_secrets WHERE id = \(secret) AND client_id = \(id)")
            // After the deletion, the requester's own token may have ended with the secret.
            guard gone > 0 else { return }
            try authority.confirm(in: db)
            try authority.permit(endingSecretOf: client, in: db)
            try Self.endAdministration(of: id, at: clock.now, in: db)
            try trail.record(
                "client.secret_ended", on: .client(id), merchant: client.merchant?.text, client: id.text,
                before: .members(["secret_id": .string(secret.text)]), in: db)
        }
        known.forget(id)
        return true
    }

    /// Ends the client's earlier admin tokens, also by the clock of another node, which may be ahead. Tokens that
    /// another node would issue from its cache are refused there (`ClientRedemption`).
    static func endAdministration(of id: Client.ID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE clients SET secret_ended_at = \(now + KnownClients.memory) WHERE id = \(id)")
    }

    static func insert(
        _ secret: Secret<Client>, id: ClientSecret.ID, of client: Client.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        try db.execute(
            """
            INSERT INTO client_secrets (id, client_id, fingerprint, created_at)
            VALUES (\(id), \(client), \(secret.fingerprint), \(now)) ON CONFLICT (id) DO NOTHING
            """)
    }
}

extension Clients {
    /// Whether `secret` is one of the client's live secrets.
    package func holds(_ client: Client, _ secret: Secret<Client>) async throws -> Bool {
        if client.authentication == .secretJWT {
            let issued = Secret<Client>(try seal.open(client.sealedSignSecret, .signSecret, row: client.id.text))
            return issued.fingerprint.matches(secret.fingerprint)
        }
        let entry = try await database.read { db in try Self.entry(client.id, in: db) }
        return entry?.secrets.contains { $0.matches(secret.fingerprint) } ?? false
    }
}
