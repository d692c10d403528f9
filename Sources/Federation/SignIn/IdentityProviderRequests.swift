public import Authentication
import Directory
public import Storage
public import Values

/// Stores sign-ins at other issuers that are in progress.
public struct IdentityProviderRequests: Sendable {
    public typealias State = Secret<IdentityProviderRequest>

    private let database: any Database
    private let clock: any WallClock

    public init(database: any Database, clock: any WallClock) {
        self.database = database
        self.clock = clock
    }

    /// Stores `request` under `state`, and charges `address` for it. Returns how long to wait if there were too many.
    func begin(_ request: IdentityProviderRequest, _ state: State, from address: String) async throws -> Duration? {
        try await database.write { db in
            if let wait = try IdentityProviderThrottle.charge(from: address, at: request.createdAt, in: db) {
                return wait
            }
            let linking = request.linkingSession
            try db.execute(
                """
                INSERT INTO provider_requests (state, issuer_id, browser, continue_to, anew, from_page, user_id,
                    session_id, session_renewals, created_at, expires_at)
                VALUES (\(state.fingerprint), \(request.issuer), \(request.browser), \(request.continueTo),
                    \(request.isAnew), \(request.isFromPage), \(linking?.user), \(linking?.session),
                    \(linking?.renewals), \(request.createdAt), \(request.expiresAt))
                ON CONFLICT (state) DO NOTHING
                """)
            return nil
        }
    }

    /// The outcome of spending a `state`.
    public enum Spending: Sendable {
        /// Spent now, for the only time.
        case spent(IdentityProviderRequest)
        /// Not valid; the reason is for the log.
        case refused(String)
    }

    /// Spends `state`. It stays valid when another browser brings it, or when it comes to another issuer's address.
    public func spend(
        _ state: State, at issuer: TrustedIssuer.ID, in browser: Fingerprint<Browser>?, by attempt: String
    ) async throws -> Spending {
        let now = clock.now
        return try await database.write { db in
            guard let row = try Self.row(state, in: db) else { return .refused("state_unknown") }
            let request = try IdentityProviderRequest(row)
            guard request.issuer == issuer else { return .refused("state_of_another_issuer") }
            guard let browser, request.browser.matches(browser) else { return .refused("state_of_another_browser") }
            guard now < request.expiresAt else { return .refused("state_expired") }
            let isFirst =
                try db.execute(
                    """
                    UPDATE provider_requests SET spent_at = \(now), spent_by = \(attempt)
                    WHERE state = \(state.fingerprint) AND spent_at IS NULL
                    """) == 1
            guard try isFirst || row.get("spent_by", as: String?.self) == attempt else {
                return .refused("state_spent")
            }
            return .spent(request)
        }
    }

    private static func row(_ state: State, in db: any Transaction) throws -> Row? {
        try db.rows(
            """
            SELECT issuer_id, browser, continue_to, anew, from_page, user_id, session_id, session_renewals, created_at,
                spent_by
            FROM provider_requests WHERE state = \(state.fingerprint)
            """
        ).first
    }
}

extension IdentityProviderRequest {
    fileprivate init(_ row: Row) throws {
        let linkingSession = try row.get("user_id", as: UserID?.self).map { user in
            LinkingSession(
                user: user, session: try row.get("session_id"), renewals: try row.get("session_renewals"))
        }
        self.init(
            issuer: try row.get("issuer_id"), browser: try row.get("browser"),
            continueTo: try row.get("continue_to"), isAnew: try row.get("anew"),
            isFromPage: try row.get("from_page"), linkingSession: linkingSession, at: try row.get("created_at"))
    }
}
