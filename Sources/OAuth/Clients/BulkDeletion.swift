public import Storage
public import Values

/// Takes away what a client or a merchant holds, in batches, before it is deleted itself: the cascade of one DELETE over
/// a million rows would keep everybody else waiting, and on PostgreSQL would never come to its end.
public struct BulkDeletion: Sendable {
    private let database: any Database
    private let batch: Int

    public init(database: any Database, batch: Int = 500) {
        self.database = database
        self.batch = batch
    }

    /// Disables `client`, so that nothing new arises, and empties it. Interrupted, it leaves a disabled client.
    public func clear(_ client: Client.ID, at now: Timestamp) async throws {
        try await database.write { db in
            try db.execute("UPDATE clients SET disabled_at = \(now) WHERE id = \(client) AND disabled_at IS NULL")
        }
        try await empty(client)
    }

    /// Disables `merchant` and empties its clients and issuers, and forgets whom it has met.
    public func clear(_ merchant: Merchant.ID, at now: Timestamp) async throws {
        try await database.write { db in
            try db.execute("UPDATE merchants SET disabled_at = \(now) WHERE id = \(merchant) AND disabled_at IS NULL")
        }
        let clients: [Client.ID] = try await database.read { db in
            try db.rows("SELECT id FROM clients WHERE merchant_id = \(merchant)").map { try $0.get("id") }
        }
        for client in clients { try await empty(client) }
        try await exhaust(
            """
            DELETE FROM issuer_subjects WHERE issuer_id IN (SELECT id FROM issuers WHERE merchant_id = \(merchant))
                AND subject IN (
                    SELECT s.subject FROM issuers i JOIN issuer_subjects s ON s.issuer_id = i.id
                    WHERE i.merchant_id = \(merchant) LIMIT \(batch))
            """)
        try await exhaust(
            """
            DELETE FROM introductions WHERE merchant_id = \(merchant) AND user_id IN (
                SELECT user_id FROM introductions WHERE merchant_id = \(merchant) LIMIT \(batch))
            """)
    }

    /// Takes away what `user` was given, which has been ended before: the account itself is to go.
    public func clear(_ user: UserID) async throws {
        try await exhaust(
            """
            DELETE FROM refresh_tokens WHERE fingerprint IN (
                SELECT r.fingerprint FROM token_families p JOIN refresh_tokens r ON r.family_id = p.id
                WHERE p.user_id = \(user) LIMIT \(batch))
            """)
        try await exhaust(
            """
            DELETE FROM token_families WHERE id IN (
                SELECT id FROM token_families WHERE user_id = \(user) LIMIT \(batch))
            """)
    }

    private func empty(_ client: Client.ID) async throws {
        try await exhaust(
            """
            DELETE FROM refresh_tokens WHERE fingerprint IN (
                SELECT r.fingerprint FROM token_families p JOIN refresh_tokens r ON r.family_id = p.id
                WHERE p.client_id = \(client) LIMIT \(batch))
            """)
        try await exhaust(
            """
            DELETE FROM token_families WHERE id IN (
                SELECT id FROM token_families WHERE client_id = \(client) LIMIT \(batch))
            """)
        try await exhaust(
            """
            DELETE FROM consents WHERE client_id = \(client) AND user_id IN (
                SELECT user_id FROM consents WHERE client_id = \(client) LIMIT \(batch))
            """)
        try await exhaust(
            """
            DELETE FROM connections WHERE client_id = \(client) AND user_id IN (
                SELECT user_id FROM connections WHERE client_id = \(client) LIMIT \(batch))
            """)
        try await exhaust(
            """
            DELETE FROM agreements WHERE client_id = \(client) AND user_id IN (
                SELECT user_id FROM agreements WHERE client_id = \(client) LIMIT \(batch))
            """)
    }

    /// Runs `statement` until it finds less than a batch.
    private func exhaust(_ statement: SQL) async throws {
        var gone = batch
        while gone >= batch { gone = try await database.write { db in try db.execute(statement) } }
    }
}
