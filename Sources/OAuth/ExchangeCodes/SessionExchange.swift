public import Directory
public import Storage
public import Values

/// Exchanges a session code for a session. The caller opens the session, because OAuth has none of its own.
public struct SessionExchange: Sendable {
    /// What a session code entitles its bearer to.
    public struct Entitlement: Sendable {
        public let user: UserID
        /// The token family that bought the code. The session ends with it.
        public let purchase: Session.Purchase
        public let redirectURI: RedirectURI
        /// The `state` that the app sent, returned with the redirect.
        public let state: String?
        public let client: Client.ID

        /// Where the browser goes once it is signed in.
        public var destination: String {
            state.map { redirectURI.adding([(Parameter.state.rawValue, $0)]) } ?? redirectURI.text
        }
    }

    public enum Refusal: Error, Sendable {
        /// Never issued, or no longer remembered: 404.
        case unknown
        /// Spent or expired, or its source has ended: 410.
        case gone(reason: String)
    }

    private let database: any Database
    private let accounts: SessionCodeAddresses
    private let clock: any WallClock

    public init(database: any Database, accounts: SessionCodeAddresses, clock: any WallClock) {
        self.database = database
        self.accounts = accounts
        self.clock = clock
    }

    /// What `code` would give, without spending it: for a page that must ask the user first.
    public func look(at code: Secret<ExchangeCode>) async throws -> Entitlement {
        let now = clock.now
        let fingerprint = code.fingerprint
        return try await database.read { db in
            let found = try entitlement(fingerprint, in: db)
            guard found.isUnspent else { throw Refusal.gone(reason: "session_code_spent") }
            guard now < found.expiresAt else { throw Refusal.gone(reason: "session_code_expired") }
            return found.entitlement
        }
    }

    /// Spends `code` and opens a session in the same commit. `open` must use the attempt's id as the session's id, so
    /// that a transaction that runs twice opens one session.
    public func spend(
        _ code: Secret<ExchangeCode>, attempt id: String, at now: Timestamp,
        open: @escaping @Sendable (Entitlement, any Transaction) throws -> Void
    ) async throws -> Entitlement {
        let fingerprint = code.fingerprint
        let attempt = Attempt(id: id, family: nil, now: now)
        let outcome = try await database.write { db -> Result<Entitlement, Refusal> in
            let found: Found
            do {
                found = try entitlement(fingerprint, in: db)
            } catch let refusal as Refusal {
                return .failure(refusal)
            }
            if try ExchangeCodes.spendSession(fingerprint, for: attempt, in: db) {
                try open(found.entitlement, db)
                return .success(found.entitlement)
            }
            guard found.spentBy != attempt.id else { return .success(found.entitlement) }
            return .failure(
                .gone(reason: found.isUnspent ? "session_code_expired_or_source_ended" : "session_code_spent"))
        }
        return try outcome.get()
    }

    private struct Found: Sendable {
        let entitlement: Entitlement
        let expiresAt: Timestamp
        let spentBy: String?
        var isUnspent: Bool { spentBy == nil }
    }

    private func entitlement(_ code: Fingerprint<ExchangeCode>, in db: any Transaction) throws -> Found {
        let row = try db.rows(
            """
            SELECT e.client_id, e.user_id, e.redirect_uri, e.state, e.expires_at, e.spent_by, f.client_id AS buyer,
                f.path, f.signed_in_at, f.is_dated, f.method, f.issuer_id
            FROM exchange_codes e JOIN token_families f ON f.id = e.source_family_id
            WHERE e.fingerprint = \(code)
            """
        ).first
        guard let row, let redirectURI: String = try row.get("redirect_uri", as: String?.self) else {
            throw Refusal.unknown
        }
        // The client, or its redirect URI, may have been removed since the code was sold.
        let live = try Clients.findLive(try row.get("client_id"), in: db)
        guard let live, live.redirectURI(redirectURI) != nil || accounts.isOpen(redirectURI, to: live) else {
            throw Refusal.gone(reason: "session_code_client_changed")
        }
        return Found(
            entitlement: Entitlement(
                user: try row.get("user_id"),
                purchase: Session.Purchase(
                    by: try row.get("buyer"), path: try row.get("path"), signIn: try SignIn(row)),
                redirectURI: RedirectURI(stored: redirectURI), state: try row.get("state"),
                client: try row.get("client_id")),
            expiresAt: try row.get("expires_at"), spentBy: try row.get("spent_by"))
    }
}
