import Directory
public import JSON
public import Storage
public import Values

/// Everything that is held on a person, as they may have it: no secret, no hash, no fingerprint.
public struct PersonalData: Sendable {
    /// One part of it, read in the transaction that reads all of it: other modules have theirs.
    public typealias Source = @Sendable (UserID, any Transaction) throws -> [JSON.Member]

    private let database: any Database
    private let sources: [Source]
    private let clock: any WallClock

    public init(database: any Database, clock: any WallClock, alsoFrom sources: [Source]) {
        self.database = database
        self.clock = clock
        self.sources = [Self.user] + sources
    }

    /// One consistent picture, or nil when there is no such account.
    public func document(of id: UserID) async throws -> JSON? {
        let now = clock.now
        return try await database.scan { [sources] db in
            guard try User.find(id, in: db) != nil else { return nil }
            return .object(
                [.init("made_at", .string(now.iso8601))] + (try sources.flatMap { source in try source(id, db) }))
        }
    }

    private static func user(_ id: UserID, _ db: any Transaction) throws -> [JSON.Member] {
        guard let user = try User.find(id, in: db) else { return [] }
        let hasPassword = try db.rows("SELECT id FROM users WHERE id = \(id) AND password_hash IS NOT NULL")
        return [
            .init(
                "account",
                .members([
                    "user_id": .string(id.description), "email": user.email.map { .string($0) },
                    "email_verified": .bool(user.emailVerified), "has_password": .bool(!hasPassword.isEmpty),
                    "created_at": .string(user.createdAt.iso8601), "updated_at": .string(user.updatedAt.iso8601),
                    "disabled_at": user.disabledAt.map { .string($0.iso8601) },
                    "deletion_due_at": user.deletionDueAt.map { .string($0.iso8601) },
                ])),
            .init("profile", user.profile),
            .init("attributes", user.attributes),
            .init("sessions", .array(try sessions(id, db))),
            .init("logins", .array(try logins(id, db))),
            .init("known_places", .array(try places(id, db))),
            .init("pending_verifications", .array(try verifications(id, user.email, db))),
        ]
    }

    /// The ended ones too, as long as they are kept.
    private static func sessions(_ id: UserID, _ db: any Transaction) throws -> [JSON] {
        try db.rows(
            """
            SELECT user_agent, ip_address, method, remembered, signed_in_at, created_at, seen_at, expires_at, ended_at
            FROM sessions WHERE user_id = \(id)
            """
        ).map { row in
            .members([
                "device": .string(try row.get("user_agent")), "address": .string(try row.get("ip_address")),
                "signed_in_by": .string(try row.get("method")), "remembered": .bool(try row.get("remembered")),
                "signed_in_at": try row.utc("signed_in_at"), "opened_at": try row.utc("created_at"),
                "last_seen_at": try row.utc("seen_at"), "expires_at": try row.utc("expires_at"),
                "ended_at": try row.utc("ended_at"),
            ])
        }
    }

    private static func logins(_ id: UserID, _ db: any Transaction) throws -> [JSON] {
        try db.rows(
            """
            SELECT client_id, type, succeeded, provider, user_agent, ip_address, created_at FROM logins
            WHERE user_id = \(id) ORDER BY created_at
            """
        ).map { row in
            .members([
                "at": try row.utc("created_at"), "type": .string(try row.get("type")),
                "succeeded": .bool(try row.get("succeeded")), "address": .string(try row.get("ip_address")),
                "device": .string(try row.get("user_agent")),
                "client_id": try row.get("client_id", as: String?.self).map { .string($0) },
                "provider": try row.get("provider", as: String?.self).map { .string($0) },
            ])
        }
    }

    /// Addresses and browsers are kept as fingerprints: all that can be told is when.
    private static func places(_ id: UserID, _ db: any Transaction) throws -> [JSON] {
        try db.rows("SELECT seen_at FROM known_devices WHERE user_id = \(id)").map { row in
            .members(["last_seen_at": try row.utc("seen_at")])
        }
    }

    private static func verifications(
        _ id: UserID, _ email: String?, _ db: any Transaction
    ) throws -> [JSON] {
        var pending = try db.rows(
            "SELECT id, purpose, email, created_at, expires_at, spent_at FROM verifications WHERE user_id = \(id)")
        if let email {
            pending += try db.rows(
                """
                SELECT id, purpose, email, created_at, expires_at, spent_at FROM verifications
                WHERE email = \(email) AND user_id IS NULL
                """)
        }
        return try pending.map { row in
            .members([
                "purpose": .string(try row.get("purpose")), "email": .string(try row.get("email")),
                "made_at": try row.utc("created_at"), "expires_at": try row.utc("expires_at"),
                "used_at": try row.utc("spent_at"),
            ])
        }
    }
}

extension Row {
    /// A moment as the document has it; nil when the column is NULL.
    fileprivate func utc(_ column: String) throws -> JSON? {
        try get(column, as: Timestamp?.self).map { .string($0.iso8601) }
    }
}
