import Audit
import Authentication
public import Cryptography
public import Delivery
public import Directory
public import Federation
public import JSON
public import OAuth
public import Storage
public import Values

/// What a user has here, as administrators see it, and end it. A merchant's sees and ends what is of its own clients,
/// or good at the merchant alone.
public struct UserHoldings: Sendable {
    let database: any Database
    let clock: any WallClock
    let random: any RandomSource
    let sessions: SessionList
    let families: TokenFamilies
    let apps: ConnectedApps
    let links: IssuerSubjects
    let throttles: UserThrottles
    let outbox: Outbox

    public init(
        database: any Database, clock: any WallClock, random: any RandomSource, sessions: SessionList,
        families: TokenFamilies,
        apps: ConnectedApps, links: IssuerSubjects, outbox: Outbox
    ) {
        self.database = database
        self.clock = clock
        self.sessions = sessions
        self.families = families
        self.apps = apps
        self.links = links
        throttles = UserThrottles(database: database, clock: clock, random: random)
        self.random = random
        self.outbox = outbox
    }

    /// A kind of holding.
    public enum Part: String, Sendable, CaseIterable {
        case sessions, tokens
        /// The clients that the user has used or allowed.
        case consents
        case identities, throttles, mails
    }

    public struct Item: Sendable {
        public let id: String
        public let json: JSON

        init(_ id: String, _ members: KeyValuePairs<String, JSON?>) {
            self.id = id
            json = .object([.init("id", .string(id))] + (JSON.members(members).members ?? []))
        }
    }

    /// Everything of that kind, in the order of the ids.
    public func list(_ part: Part, of user: UserID, by administrator: Administrator) async throws -> [Item] {
        let items =
            switch part {
            case .sessions: try await sessions(of: user, administrator)
            case .tokens: try await families(of: user, administrator)
            case .consents: try await apps(of: user, administrator).map(Item.init)
            case .identities: try await identities(of: user, administrator).map(\.item)
            case .throttles: try await throttles.list(of: user, at: administrator.confines).map(Item.init)
            case .mails:
                try await outbox.list(to: recipients(of: user), share: administrator.share).map(Item.init)
            }
        return items.sorted { $0.id < $1.id }
    }

    /// Ends the one with `id`, or all of that kind. Returns how many there were. Throws an `AdministrationRefusal` for
    /// what the user cannot do without.
    public func end(
        _ part: Part, _ id: String? = nil, of user: UserID, by administrator: Administrator
    ) async throws -> Int {
        switch part {
        case .sessions:
            let one: SQL = id.map { "s.id = \($0)" } ?? .always
            return try await sessions.end(
                where: "\(one) AND \(administrator.reachesSession)", of: user, by: administrator)
        case .tokens:
            let one: SQL = id.map { "f.id = \($0)" } ?? .always
            return try await families.end(
                where: "\(one) AND \(administrator.reaches("f.client_id"))", of: user, at: clock.now,
                by: administrator)
        case .consents:
            let those = try await apps(of: user, administrator).filter { id == nil || $0.client.text == id }
            for app in those { try await apps.revoke(app.client, of: user, by: administrator) }
            return those.count
        case .identities: return try await unlink(id, of: user, administrator)
        case .throttles:
            return try await throttles.lift(
                id, of: user, at: administrator.confines, isLimited: !administrator.isAdministrator, by: administrator)
        case .mails:
            return try await outbox.drop(
                id.map { Delivery.ID($0) }, to: recipients(of: user), share: administrator.share,
                doing: administrator.writing("delivery.dropped", on: .user(user), at: clock.now, random))
        }
    }

    private func sessions(of user: UserID, _ administrator: Administrator) async throws -> [Item] {
        let now = clock.now
        return try await database.scan(for: administrator.requester) { db in
            try db.rows(
                """
                SELECT s.id, s.client_id, \(Issuers.merchant) AS good_at, s.issuer_id, s.method, s.signed_in_at,
                    s.ip_address, s.user_agent, s.remembered, s.created_at, s.seen_at, s.expires_at
                FROM sessions s \(Issuers.joined)
                WHERE s.user_id = \(user) AND s.ended_at IS NULL AND s.expires_at > \(now)
                    AND \(administrator.reachesSession)
                """
            ).map { row in
                Item(
                    try row.get("id"),
                    [
                        "client_id": try row.text("client_id"), "merchant_id": try row.text("good_at"),
                        "issuer_id": try row.text("issuer_id"), "method": try row.text("method"),
                        "signed_in_at": try row.seconds("signed_in_at"), "address": try row.text("ip_address"),
                        "user_agent": try row.text("user_agent"),
                        "remembered": .bool(try row.get("remembered")), "created_at": try row.seconds("created_at"),
                        "seen_at": try row.seconds("seen_at"), "expires_at": try row.seconds("expires_at"),
                    ])
            }
        }
    }

    private func families(of user: UserID, _ administrator: Administrator) async throws -> [Item] {
        let now = clock.now
        return try await database.scan(for: administrator.requester) { db in
            try db.rows(
                """
                SELECT f.id, f.client_id, f.scope, f.resource, f.method, f.issuer_id, f.session_id, f.created_at,
                    f.expires_at
                FROM token_families f
                WHERE f.user_id = \(user) AND f.ended_at IS NULL AND f.expires_at > \(now)
                    AND \(administrator.reaches("f.client_id"))
                """
            ).map { row in
                Item(
                    try row.get("id"),
                    [
                        "client_id": try row.text("client_id"), "scope": try row.text("scope"),
                        "resource": try row.text("resource"), "method": try row.text("method"),
                        "issuer_id": try row.text("issuer_id"), "session_id": try row.text("session_id"),
                        "created_at": try row.seconds("created_at"), "expires_at": try row.seconds("expires_at"),
                    ])
            }
        }
    }

    private func apps(of user: UserID, _ administrator: Administrator) async throws -> [ConnectedApp] {
        let all = try await apps.list(of: user)
        guard administrator.confines != nil, !all.isEmpty else { return all }
        let own: Set<Client.ID> = try await database.read { db in
            Set(
                try db.rows(
                    """
                    SELECT c.id FROM clients c
                    WHERE c.id IN (\(list: all.map(\.client))) AND \(administrator.reaches("c.id"))
                    """
                ).map { try $0.get("id") })
        }
        return all.filter { own.contains($0.client) }
    }

    /// Where mails and text messages of the user go.
    private func recipients(of id: UserID) async throws -> [String] {
        let user = try await database.read { db in try User.find(id, in: db) }
        return [user?.email, user?.verifiedPhone?.text].compactMap(\.self)
    }
}

extension UserHoldings {
    /// A link to a subject of an issuer.
    private struct Identity {
        let issuer: TrustedIssuer.ID
        let subject: String
        /// Whether its sign-ins are good at every merchant.
        let isForAll: Bool
        let item: Item
    }

    private func identities(of user: UserID, _ administrator: Administrator) async throws -> [Identity] {
        let own: SQL = administrator.confines.map { "o.merchant_id = \($0)" } ?? .always
        return try await database.read { db in
            try db.rows(
                """
                SELECT s.issuer_id, s.subject, s.is_confined, s.created_at, o.issuer, o.merchant_id,
                    o.signs_in_everywhere
                FROM issuer_subjects s JOIN issuer_settings o ON o.issuer_id = s.issuer_id
                WHERE s.user_id = \(user) AND \(own)
                """
            ).map { row in
                let issuer: TrustedIssuer.ID = try row.get("issuer_id")
                let subject: String = try row.get("subject")
                return Identity(
                    issuer: issuer, subject: subject, isForAll: try row.get("signs_in_everywhere"),
                    item: Item(
                        "\(issuer):\(subject)",
                        [
                            "issuer_id": .string(issuer.text), "issuer": try row.text("issuer"),
                            "merchant_id": try row.text("merchant_id"), "subject": .string(subject),
                            "confined": .bool(try row.get("is_confined")),
                            "created_at": try row.seconds("created_at"),
                        ]))
            }
        }
    }

    private func unlink(
        _ id: String?, of user: UserID, _ administrator: Administrator
    ) async throws -> Int {
        let those = try await identities(of: user, administrator).filter { id == nil || $0.item.id == id }
        for link in those {
            guard administrator.confines == nil || !link.isForAll else {
                throw AdministrationRefusal(
                    "Only the platform may remove a link to a provider whose sign-ins are good at every merchant.")
            }
            let isRemoved = try await links.remove(
                link.subject, of: link.issuer, from: user, keeping: nil, at: clock.now, by: administrator)
            guard isRemoved else {
                throw AdministrationRefusal(
                    "'\(link.item.id)' is the user's only way to sign in.", isConflict: true)
            }
        }
        return those.count
    }

    /// The attempts to sign in as `user`, the newest first: at most `count` after the one at `place`.
    public func logins(
        of user: UserID, by administrator: Administrator, after place: LoginPlace?, count: Int
    ) async throws -> [(place: LoginPlace, json: JSON)] {
        let after: SQL = place.map { "(l.created_at, l.id) < (\($0.moment), \($0.id))" } ?? .always
        return try await database.scan(for: administrator.requester) { db in
            try db.rows(
                """
                SELECT l.id, l.client_id, l.type, l.succeeded, l.provider, l.ip_address, l.user_agent, l.created_at
                FROM logins l
                WHERE l.user_id = \(user) AND \(administrator.reaches("l.client_id")) AND \(after)
                ORDER BY l.created_at DESC, l.id DESC LIMIT \(count)
                """
            ).map { row in
                let id: String = try row.get("id")
                let json: JSON = .members([
                    "id": .string(id), "created_at": try row.seconds("created_at"),
                    "client_id": try row.text("client_id"), "type": try row.text("type"),
                    "succeeded": .bool(try row.get("succeeded")), "provider": try row.text("provider"),
                    "address": try row.text("ip_address"), "user_agent": try row.text("user_agent"),
                ])
                return (LoginPlace(moment: try row.get("created_at"), id: id), json)
            }
        }
    }

    /// Lifts what keeps the user from signing in. Returns how many limits had been used.
    public func unlock(_ user: UserID, by administrator: Administrator) async throws -> Int {
        try await end(.throttles, of: user, by: administrator)
    }
}

/// The place of an attempt in the list of them.
public struct LoginPlace: Sendable {
    let moment: Int64
    let id: String

    init(moment: Int64, id: String) {
        self.moment = moment
        self.id = id
    }

    public init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let moment = Int64(parts[0]) else { return nil }
        self.init(moment: moment, id: String(parts[1]))
    }

    public var text: String { "\(moment).\(id)" }
}

extension UserHoldings.Item {
    fileprivate init(_ app: ConnectedApp) {
        self.init(
            app.client.text,
            [
                "client_id": .string(app.client.text), "client_name": .string(app.name),
                "scope": .string(app.scope.description), "created_at": .integer(app.since.seconds),
            ])
    }

    fileprivate init(_ throttle: UserThrottles.Item) {
        self.init(
            throttle.id,
            [
                "kind": .string(throttle.kind.rawValue), "address": throttle.address.map { .string($0) },
                "merchant_id": throttle.merchant.map { .string($0.text) },
                "wait": .integer((throttle.wait.milliseconds + 999) / 1000), "until": .integer(throttle.until.seconds),
            ])
    }

    fileprivate init(_ delivery: Outbox.Item) {
        self.init(delivery.id.text, delivery.members)
    }
}

extension Outbox.Item {
    /// Its members besides the id.
    var members: KeyValuePairs<String, JSON?> {
        [
            "kind": .string(kind.rawValue), "state": .string(state.rawValue), "attempts": .integer(Int64(attempts)),
            "due_at": failedAt == nil ? .integer(dueAt.seconds) : nil, "created_at": .integer(createdAt.seconds),
            "expires_at": .integer(expiresAt.seconds), "failed_at": failedAt.map { .integer($0.seconds) },
            "error": error.map { .string($0) },
        ]
    }

    public var json: JSON {
        .object([.init("id", .string(id.text))] + (JSON.members(members).members ?? []))
    }
}

extension Administrator {
    /// The share of deliveries that it sees; nil for all.
    fileprivate var share: Delivery.Share? { confines.map { Delivery.Share($0.text) } }
}

extension Row {
    fileprivate func text(_ column: String) throws -> JSON? {
        try get(column, as: String?.self).map { .string($0) }
    }

    fileprivate func seconds(_ column: String) throws -> JSON? {
        try get(column, as: Timestamp?.self).map { .integer($0.seconds) }
    }
}
