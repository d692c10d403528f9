import Audit
public import Directory
import Storage
public import Values

/// The logout that a device asks for.
extension TokenFamilies {
    /// Logs a device out: ends its token family and the sessions bought with it. If the merchant's logout reaches
    /// backends, also ends what was redeemed from its codes. The merchant's clients are told once.
    public func logOut(_ id: TokenFamily.ID, at now: Timestamp) async throws {
        let (isLive, reach) = try await database.read { db -> (Bool, Reach?) in
            guard let holder = try Self.holder(ofLive: id, in: db) else { return (false, nil) }
            guard case .user(let user) = holder else { return (true, nil) }
            return (true, try Self.reach(of: id, user, in: db))
        }
        guard isLive else { return }
        guard let reach else { return try await end(with: id, at: now) }
        let requester = Requester.user(reach.user, of: reach.merchant, for: "logouts")
        // This may read everything that the user has redeemed. A logout must not fail because others sign out too.
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

    /// The merchant and path that a logout reaches backends by.
    private struct Reach: Sendable {
        let user: UserID
        let merchant: Merchant.ID
        let path: TokenFamily.Path
    }

    private func end(with id: TokenFamily.ID, reaching reach: Reach? = nil, at now: Timestamp) async throws {
        let announcement = callbacks.announcement(at: now)
        var known: [Ending.Family]?
        if let reach {
            // Read before the write: it may be everything the user has at the merchant, and all requests share the
            // writer.
            known = try await database.readAside { db in
                try Rows.families("f.user_id = \(reach.user) AND \(Rows.below(reach.path))", in: db)
            }
        }
        let reached = known
        try await database.write { db in
            switch try Self.holder(ofLive: id, in: db) {
            case .user(let user):
                try announcement.signedOut(of: id, in: db)
                try announcement.trail(of: Actor(.user(user))).record(
                    "token_family.ended", on: Party(.tokenFamily, id.text), of: user, reason: "signed_out", in: db)
                try Ending.signOut(id, of: user, reaching: reached, telling: announcement, in: db)
            case .client: try Ending.mark([id], at: now, in: db)
            case nil: return
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

    /// Ends what came with a token that is refused because its client, merchant or issuer is disabled: otherwise the
    /// token would work again later, though its user has signed out. Does nothing for any other token.
    public func logOut(resting token: Secret<AccessToken>, among tokens: AccessTokens, at now: Timestamp) async throws {
        if let family = try await tokens.restingFamily(of: token) { try await logOut(family, at: now) }
    }

    /// Ends the passing tokens that `client` got in the browser session `sid` of the user `subject`, after the session
    /// has expired, so that the user can still sign out at the client. Does nothing while the session lives, perhaps in
    /// another browser, nor for a client with pairwise identifiers, whose `sid` leads to no session.
    public func logOut(ofExpired sid: String, subject: String, from client: Client, at now: Timestamp) async throws {
        guard !client.openID.isPairwise else { return }
        let left: @Sendable (any Transaction) throws -> (user: UserID, families: [TokenFamily.ID])? = { db in
            guard let user = try User.id(ofSubject: subject, in: db) ?? UserID(subject),
                try db.rows(
                    "SELECT id FROM sessions WHERE id = \(sid) AND ended_at IS NULL AND expires_at > \(now)"
                ).isEmpty
            else { return nil }
            let families = try Rows.families(
                "f.session_id = \(sid) AND f.user_id = \(user) AND f.client_id = \(client.id)", in: db
            ).filter(\.isPassing).map(\.id)
            return families.isEmpty ? nil : (user, families)
        }
        // After most sign-outs nothing is left, and all requests share the writer.
        guard try await database.read({ db in try left(db) != nil }) else { return }
        let announcement = callbacks.announcement(at: now)
        try await database.write { db in
            guard let (user, families) = try left(db) else { return }
            try Ending.carryOut(.familiesEnd(families), of: user, telling: announcement, at: now, in: db)
        }
        announcement.send()
    }

    /// The merchant and path of a family of `user`, if its merchant's logout reaches backends. The receiver of a code
    /// has the same merchant as the client that bought it.
    private static func reach(of id: TokenFamily.ID, _ user: UserID, in db: any Transaction) throws -> Reach? {
        try db.rows(
            """
            SELECT m.id, f.path FROM token_families f
            JOIN clients c ON c.id = f.client_id JOIN merchants m ON m.id = c.merchant_id
            WHERE f.id = \(id) AND m.logout_reaches_backends = 1
            """
        ).first.map { Reach(user: user, merchant: try $0.get("id"), path: try $0.get("path")) }
    }
}
