import Directory
public import JSON
import Storage
import Text
import Values

/// Something that an id names.
public struct Found: Sendable {
    public enum Kind: String, Sendable {
        case user, session, tokens, client, merchant, issuer, webhook, delivery, key
        /// A request, of which there are events.
        case request
        case initialAccessToken = "initial_access_token"
    }

    public let kind: Kind
    public let id: String
    /// What a reader knows it by.
    public let label: String
    /// Where administration has it.
    public let path: String

    public static let schema = Schema.object(
        ["kind": .text, "id": .text, "label": .text, "href": .text], required: ["kind", "id", "label", "href"])

    public var json: JSON {
        .members(["kind": .string(kind.rawValue), "id": .string(id), "label": .string(label), "href": .string(path)])
    }
}

extension Finding {
    /// Everything that `text` is an id of and `administrator` may see: ids as tokens, answers and the log have them.
    public func find(_ text: String, by administrator: Administrator) async throws -> [Found] {
        var users: Set<UserID> = []
        if let user = try await user(ofSubject: text, by: administrator) { users.insert(user) }
        if let email = EmailAddress(text) {
            let found: UserID? = try await database.rows("SELECT id FROM users WHERE email = \(email)").first?.get("id")
            if let found { users.insert(found) }
        }
        // A user may have a number that another one has as the kept `sub`.
        if let id = UserID(text) { users.insert(id) }
        let sid = try await session(ofSid: text, by: administrator)
        let sought = users
        return try await database.scan(for: administrator.requester) { db in
            var found: [Found] = []
            for id in sought.sorted(by: { $0.number < $1.number }) {
                guard try administrator.covers(id, in: db), let user = try User.find(id, in: db) else { continue }
                found.append(.init(kind: .user, id: id.description, label: user.label, path: Self.path(of: id)))
            }
            found += try Self.sessions(sid?.text ?? text, administrator, in: db)
            found += try Self.families(text, administrator, in: db)
            found += try Self.requests(text, administrator, in: db)
            for part in Self.owned { found += try part(text, administrator, db) }
            if administrator.confines == nil {
                for part in Self.ofPlatform { found += try part(text, administrator, db) }
            }
            return found
        }
    }

    static func path(of user: UserID) -> String { "/admin/v1/users/\(user)" }

    private typealias Search = @Sendable (String, Administrator, any Transaction) throws -> [Found]

    private static func sessions(
        _ id: String, _ administrator: Administrator, in db: any Transaction
    ) throws -> [Found] {
        try db.rows(
            """
            SELECT s.id, s.user_id, s.user_agent FROM sessions s \(Issuers.joined)
            WHERE s.id = \(id) AND \(administrator.reachesSession)
            """
        ).map { row in
            let user: UserID = try row.get("user_id")
            return .init(
                kind: .session, id: try row.get("id"), label: "user \(user)", path: "\(path(of: user))/sessions")
        }
    }

    private static func families(
        _ id: String, _ administrator: Administrator, in db: any Transaction
    ) throws -> [Found] {
        try db.rows(
            """
            SELECT f.id, f.user_id, f.client_id, c.name FROM token_families f JOIN clients c ON c.id = f.client_id
            WHERE f.id = \(id) AND \(administrator.reaches("f.client_id"))
            """
        ).map { row in
            let user: UserID? = try row.get("user_id")
            let client: String = try row.get("client_id")
            return .init(
                kind: .tokens, id: try row.get("id"), label: try row.get("name"),
                path: user.map { "\(path(of: $0))/tokens" } ?? "/admin/v1/clients/\(client)")
        }
    }

    /// The request with this id in the log, by what happened in it.
    private static func requests(
        _ id: String, _ administrator: Administrator, in db: any Transaction
    ) throws -> [Found] {
        let seen: SQL = administrator.confines.map { "e.merchant_id = \($0)" } ?? .always
        let types = try db.rows(
            "SELECT e.type FROM events e WHERE e.request_id = \(id) AND \(seen) ORDER BY e.id LIMIT 5"
        ).map { try $0.get("type", as: String.self) }
        guard !types.isEmpty else { return [] }
        return [
            .init(
                kind: .request, id: id, label: types.joined(separator: ", "),
                path: "/admin/v1/events?request_id=\(PercentEncoding.encode(id))")
        ]
    }

    /// What merchants own.
    private static let owned: [Search] = [
        { id, administrator, db in
            try db.rows(
                "SELECT id, name, merchant_id FROM clients WHERE id = \(id) AND deleted_at IS NULL"
            ).compactMap { try found(.client, $0, "clients", administrator) }
        },
        { id, administrator, db in
            try db.rows(
                "SELECT id, name, id AS merchant_id FROM merchants WHERE id = \(id) AND deleted_at IS NULL"
            ).compactMap { try found(.merchant, $0, "merchants", administrator) }
        },
        { id, administrator, db in
            try db.rows(
                "SELECT issuer_id AS id, issuer AS name, merchant_id FROM issuer_settings WHERE issuer_id = \(id)"
            ).compactMap { try found(.issuer, $0, "issuers", administrator) }
        },
        { id, administrator, db in
            try db.rows(
                "SELECT id, name, merchant_id FROM webhooks WHERE id = \(id) OR name = \(id)"
            ).compactMap { try found(.webhook, $0, "webhooks", administrator) }
        },
        { id, administrator, db in
            try db.rows(
                "SELECT id, id AS name, merchant_id FROM initial_access_tokens WHERE id = \(id)"
            ).compactMap { try found(.initialAccessToken, $0, "initial-access-tokens", administrator) }
        },
    ]

    private static func found(
        _ kind: Found.Kind, _ row: Row, _ path: String, _ administrator: Administrator
    ) throws -> Found? {
        guard administrator.covers(try row.get("merchant_id", as: Merchant.ID?.self)) else { return nil }
        let id: String = try row.get("id")
        return Found(kind: kind, id: id, label: try row.get("name"), path: "/admin/v1/\(path)/\(id)")
    }

    private static let ofPlatform: [Search] = [
        { id, _, db in
            try db.rows("SELECT id, kind FROM deliveries WHERE id = \(id)").map { row in
                let id: String = try row.get("id")
                return Found(
                    kind: .delivery, id: id, label: try row.get("kind"), path: "/admin/v1/deliveries/\(id)")
            }
        },
        { id, _, db in
            try db.rows("SELECT id, algorithm FROM signing_keys WHERE id = \(id)").map { row in
                let id: String = try row.get("id")
                return Found(kind: .key, id: id, label: try row.get("algorithm"), path: "/admin/v1/keys/\(id)")
            }
        },
    ]
}

extension Administrator {
    /// The condition that the administrator sees session `s`, joined to its issuer `i`: a merchant's sees web views of
    /// its own clients, and what is good at the merchant alone.
    var reachesSession: SQL {
        guard let confines else { return .always }
        return "(\(Issuers.merchant) = \(confines) OR s.path IS NOT NULL AND \(reaches("s.client_id")))"
    }
}

extension User {
    /// What a reader knows the user by.
    fileprivate var label: String { email ?? profile["name"]?.string ?? "" }
}
