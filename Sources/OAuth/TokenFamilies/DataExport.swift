public import JSON
public import Storage
public import Values

/// The data of this module about a user, as the user may export it.
public enum DataExport {
    /// Connections, introductions, consents, agreements and token families of `user`, in an open transaction.
    public static func members(of user: UserID, in db: any Transaction) throws -> [JSON.Member] {
        [
            .init("connections", .array(try connections(user, db))),
            .init("introductions", .array(try introductions(user, db))),
            .init("consents", .array(try consents(user, db))),
            .init("agreements", .array(try agreements(user, db))),
            .init("permissions", .array(try families(user, db))),
        ]
    }

    private static func connections(_ user: UserID, _ db: any Transaction) throws -> [JSON] {
        try db.rows(
            """
            SELECT k.client_id, c.name, m.name AS merchant_name, k.created_at
            FROM connections k JOIN clients c ON c.id = k.client_id LEFT JOIN merchants m ON m.id = c.merchant_id
            WHERE k.user_id = \(user)
            """
        ).map { row in
            .members([
                "client_id": .string(try row.get("client_id")), "client_name": .string(try row.get("name")),
                "merchant_name": try row.get("merchant_name", as: String?.self).map { .string($0) },
                "since": try row.utc("created_at"),
            ])
        }
    }

    private static func introductions(_ user: UserID, _ db: any Transaction) throws -> [JSON] {
        try db.rows(
            """
            SELECT i.merchant_id, m.name, i.created_at FROM introductions i JOIN merchants m ON m.id = i.merchant_id
            WHERE i.user_id = \(user)
            """
        ).map { row in
            .members([
                "merchant_id": .string(try row.get("merchant_id")), "merchant_name": .string(try row.get("name")),
                "since": try row.utc("created_at"),
            ])
        }
    }

    private static func consents(_ user: UserID, _ db: any Transaction) throws -> [JSON] {
        try db.rows(
            "SELECT client_id, scope, created_at, updated_at FROM consents WHERE user_id = \(user)"
        ).map { row in
            .members([
                "client_id": .string(try row.get("client_id")), "scope": .string(try row.get("scope")),
                "given_at": try row.utc("created_at"), "changed_at": try row.utc("updated_at"),
            ])
        }
    }

    /// Those without a client are with the platform.
    private static func agreements(_ user: UserID, _ db: any Transaction) throws -> [JSON] {
        try db.rows(
            "SELECT client_id, terms_uri, accepted_at FROM agreements WHERE user_id = \(user)"
        ).map { row in
            let client: String = try row.get("client_id")
            return .members([
                "client_id": client.isEmpty ? nil : .string(client), "terms": .string(try row.get("terms_uri")),
                "accepted_at": try row.utc("accepted_at"),
            ])
        }
    }

    /// Includes the ended ones, as long as they are kept.
    private static func families(_ user: UserID, _ db: any Transaction) throws -> [JSON] {
        try db.rows(
            """
            SELECT client_id, scope, signed_in_at, created_at, expires_at, ended_at FROM token_families
            WHERE user_id = \(user)
            """
        ).map { row in
            .members([
                "client_id": .string(try row.get("client_id")), "scope": .string(try row.get("scope")),
                "signed_in_at": try row.utc("signed_in_at"), "made_at": try row.utc("created_at"),
                "expires_at": try row.utc("expires_at"), "ended_at": try row.utc("ended_at"),
            ])
        }
    }
}

extension Row {
    /// The time as the export writes it; nil when the column is NULL.
    fileprivate func utc(_ column: String) throws -> JSON? {
        try get(column, as: Timestamp?.self).map { .string($0.iso8601) }
    }
}
