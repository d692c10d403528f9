public import Directory
import Storage
public import Values

/// The logout that a device asks for.
extension TokenFamilies {
    /// Logs a device out: ends its token family and, if the merchant says "logout reaches backends", also what was
    /// redeemed from its codes. Sessions bought with it end too. The merchant's clients are told once.
    public func logOut(_ id: TokenFamily.ID, at now: Timestamp) async throws {
        let (isLive, reach) = try await database.read { db -> (Bool, Reach?) in
            guard let holder = try Self.holder(ofLive: id, in: db) else { return (false, nil) }
            guard case .user(let user) = holder, let merchant = try Self.merchantReached(by: id, in: db) else {
                return (true, nil)
            }
            return (true, Reach(user: user, merchant: merchant))
        }
        guard isLive else { return }
        guard let reach else { return try await end(with: id, at: now) }
        let requester = Requester.user(reach.user, of: reach.merchant, for: "logouts")
        // All that a user has redeemed is gone through then. Nobody's logout is refused because others sign out too.
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            do {
                return try await database.inTurn(of: requester) { try await end(with: id, reaching: reach, at: now) }
            } catch StorageError.tooMany {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        try await end(with: id, reaching: reach, at: now)
    }

    /// Whose backends a logout reaches, and of which merchant.
    private struct Reach: Sendable {
        let user: UserID
        let merchant: Merchant.ID
    }

    private func end(with id: TokenFamily.ID, reaching reach: Reach? = nil, at now: Timestamp) async throws {
        let announcement = callbacks.announcement(at: now)
        var known = Descent(from: id)
        if let reach {
            // Read before: it may be all that the user has at the merchant, and the write is everybody's.
            known = try await database.readAside { db in
                try Self.descendants(of: Descent(from: id), reach, in: db)
            }
        }
        let tree = known
        try await database.write { db in
            guard let holder = try Self.holder(ofLive: id, in: db) else { return }
            guard case .user(let user) = holder else { return _ = try Self.end(id, at: now, in: db) }
            // A redemption may have been faster.
            let young: SQL = "ended_at IS NULL AND created_at >= \(now - Self.skew)"
            let backends = try reach.map { try Self.descendants(of: tree, $0, young, in: db).live } ?? []
            try Self.tellingOfBought(user, ending: [id] + backends, announcement, in: db) {
                if try Self.end(id, at: now, in: db) { try announcement.signedOut(of: id, in: db) }
                try Self.end(backends: backends, at: now, in: db)
            }
        }
        announcement.send()
    }

    /// Ends everything that came with `token`, a user's or a client's own. A token without a family ends alone.
    public func logOut(_ token: AccessToken, at now: Timestamp) async throws {
        guard let family = token.family else {
            return try await database.write { db in try AccessTokens.end(token.fingerprint, in: db) }
        }
        try await logOut(family, at: now)
    }

    /// Ends what came with a token that is refused because its client, merchant or issuer is disabled: otherwise it
    /// would live again, though its user has signed out. Or, because it has expired, the browser sessions that its
    /// family bought, and what was got there: an old token is in more hands, so the device stays signed in. Does
    /// nothing for any other.
    public func logOut(resting token: Secret<AccessToken>, among tokens: AccessTokens, at now: Timestamp) async throws {
        if let family = try await tokens.restingFamily(of: token) {
            try await logOut(family, at: now)
        } else if let family = try await SessionBuyers.family(ofExpired: token.fingerprint, at: now, in: database) {
            let announcement = callbacks.announcement(at: now)
            try await database.write { db in
                guard case .user(let user) = try Self.holder(ofLive: family, in: db) else { return }
                try Self.endBought(by: family, of: user, telling: announcement, in: db)
            }
            announcement.send()
        }
    }

    /// The merchant of a family, if it wants that. A code's receiver is its buyer's merchant's too.
    private static func merchantReached(by id: TokenFamily.ID, in db: any Transaction) throws -> Merchant.ID? {
        try db.rows(
            """
            SELECT m.id FROM token_families f
            JOIN clients c ON c.id = f.client_id JOIN merchants m ON m.id = c.merchant_id
            WHERE f.id = \(id) AND m.logout_reaches_backends = 1
            """
        ).first?.get("id")
    }

    /// Ends what was redeemed from the codes of a device, and from theirs in turn.
    private static func end(backends descendants: [TokenFamily.ID], at now: Timestamp, in db: any Transaction) throws {
        for some in some(of: descendants) {
            try db.execute(
                """
                UPDATE token_families SET ended_at = \(now)
                WHERE id IN (\(list: some)) AND ended_at IS NULL
                    AND EXISTS (
                        SELECT 1 FROM clients JOIN merchants ON merchants.id = clients.merchant_id
                        WHERE clients.id = token_families.client_id AND merchants.logout_reaches_backends = 1)
                """)
        }
    }

    /// How much earlier it may be for the node that stores a family than for the one that looks for it.
    private static let skew: Duration = .minutes(5)

    /// What came from a family.
    private struct Descent: Sendable {
        /// It, and all below.
        var all: Set<String>
        /// Those below it that have not ended.
        var live: [TokenFamily.ID] = []

        init(from id: TokenFamily.ID) { all = [id.text] }
    }

    /// Adds to `known` the families below it for which `condition` holds, also those below one that has ended or is
    /// forgotten. All of it is one user's at one merchant's clients, because a code acts for the user whose token
    /// bought it, and is for its buyer's merchant.
    ///
    /// Not by a recursive statement: PostgreSQL reads all of them again for each step of a long chain of codes.
    private static func descendants(
        of known: Descent, _ reach: Reach, _ condition: SQL = .always, in db: any Transaction
    ) throws -> Descent {
        let rows = try db.rows(
            """
            SELECT id, parent_id, ancestors, ended_at FROM token_families
            WHERE user_id = \(reach.user)
                AND client_id IN (SELECT id FROM clients WHERE merchant_id = \(reach.merchant))
                AND parent_id IS NOT NULL AND \(condition)
            """)
        var descent = known
        let more = reached(from: Array(known.all), by: try children(rows)).subtracting(known.all)
        descent.all.formUnion(more)
        descent.live += try more.intersection(live(rows)).map { TokenFamily.ID($0) }
        return descent
    }

    /// The ids of those of `rows` that have not ended.
    static func live(_ rows: [Row]) throws -> Set<String> {
        Set(
            try rows.filter { try $0.get("ended_at", as: Timestamp?.self) == nil }
                .map { try $0.get("id", as: String.self) })
    }

    /// The families of `rows` by what they came from: their parents and, where one of these is forgotten, those before
    /// it that are known.
    static func children(_ rows: [Row]) throws -> [String: [String]] {
        let known = Set(try rows.map { try $0.get("id", as: String.self) })
        var children: [String: [String]] = [:]
        for row in rows {
            guard let parent: String = try row.get("parent_id", as: String?.self) else { continue }
            let child: String = try row.get("id")
            children[parent, default: []].append(child)
            guard !known.contains(parent) else { continue }
            for ancestor in (try row.get("ancestors", as: String?.self) ?? "").split(separator: " ") {
                children[String(ancestor), default: []].append(child)
            }
        }
        return children
    }

    /// The families that came from `families` by `children`, and these themselves.
    static func reached(from families: [String], by children: [String: [String]]) -> Set<String> {
        var (open, found) = (families, Set(families))
        // Each is taken once, so that not even a circle, which no code can make, would keep this going.
        while let family = open.popLast() {
            open += (children[family] ?? []).filter { found.insert($0).inserted }
        }
        return found
    }
}
