import Directory
public import Storage
import Values

/// The stored refresh tokens.
public struct RefreshTokens: Sendable {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    static func insertion(
        of fingerprint: Fingerprint<RefreshToken>, _ family: NewTokenFamily, client: Client, at now: Timestamp,
        when condition: SQL?
    ) -> SQL {
        let until = RefreshToken.expiry(at: now, client: client, familySince: family.createdAt).token
        // PostgreSQL takes untyped values for texts here.
        return """
            INSERT INTO refresh_tokens (fingerprint, family_id, scope, issued_at, expires_at)
            SELECT \(fingerprint), \(family.id), \(family.scope), CAST(\(now) AS BIGINT), CAST(\(until) AS BIGINT)
            WHERE \(condition ?? .always)
            ON CONFLICT (fingerprint) DO NOTHING
            """
    }

    /// How many tokens of one family are remembered.
    static let mostOfFamily = 1000

    /// Deletes the oldest tokens of a family beyond `mostOfFamily`, so that an app that refreshes in a loop cannot fill
    /// the disk. A replay of a deleted one is still recognized by its text (`RefreshToken.family(of:markedBy:)`).
    static func forgetOldest(of family: TokenFamily.ID, in db: any Transaction) throws {
        let all = try db.rows(
            "SELECT fingerprint FROM refresh_tokens WHERE family_id = \(family) LIMIT \(4 * mostOfFamily)"
        ).map { try $0.get("fingerprint", as: String.self) }
        guard all.count > mostOfFamily else { return }
        // The ids begin with their time.
        let oldest = all.sorted().prefix(all.count - mostOfFamily)
        try db.execute("DELETE FROM refresh_tokens WHERE fingerprint IN (\(list: Array(oldest)))")
    }

    /// Whether `family` is live and belongs to `client`.
    func isLive(_ family: TokenFamily.ID, of client: Client) async throws -> Bool {
        try await !database.rows(
            """
            SELECT id FROM token_families
            WHERE id = \(family) AND client_id = \(client.id) AND ended_at IS NULL
            """
        ).isEmpty
    }

    func find(_ fingerprint: Fingerprint<RefreshToken>) async throws -> RefreshToken? {
        let rows = try await database.rows(
            """
            SELECT r.fingerprint, r.family_id, r.scope, r.predecessor, r.expires_at, r.sealed_successor,
                r.rotated_at, r.confirmed_at, r.repeats, f.created_at, f.client_id, f.user_id, f.path,
                f.signed_in_at, f.is_dated, f.method, f.issuer_id, f.session_id, f.claims, f.resource, f.trial,
                f.expires_at AS family_expires_at, u.email_verified, \(Standing.columns)
            FROM refresh_tokens r
            JOIN token_families f ON f.id = r.family_id
            \(Standing.whatTokensRestOn(of: "f"))
            WHERE r.fingerprint = \(fingerprint)
            """)
        return try rows.first.map(RefreshToken.init)
    }

    /// Marks a rotation as received, if `condition` holds, and erases its sealed successor. Where the client's leeway
    /// still needs the successor, the next rotation erases it. One small write per rotation.
    static func confirmation(
        of predecessor: Fingerprint<RefreshToken>, at now: Timestamp, isInLeeway: Bool = false, when condition: SQL?
    ) -> SQL {
        let erasure: SQL = isInLeeway ? "" : ", sealed_successor = NULL"
        return """
            UPDATE refresh_tokens SET confirmed_at = COALESCE(confirmed_at, \(now))\(erasure)
            WHERE fingerprint = \(predecessor) AND rotated_at IS NOT NULL
                AND (confirmed_at IS NULL OR sealed_successor IS NOT NULL)
                AND \(condition ?? .always)
            """
    }
}

extension RefreshToken {
    fileprivate init(_ row: Row) throws {
        let user: UserID? = try row.get("user_id")
        let session: Session.ID? = try row.get("session_id")
        let path: TokenFamily.Path = try row.get("path")
        self.init(
            fingerprint: try row.get("fingerprint"), family: try row.get("family_id"),
            familyCreatedAt: try row.get("created_at"),
            familyExpiresAt: try row.get("family_expires_at"), client: try row.get("client_id"),
            subject: try user.map { user in
                Subject(user: user, try SignIn(row), session: session, isBought: !path.isRoot)
            },
            request: try AuthenticationRequest(row), scope: try row.get("scope"),
            predecessor: try row.get("predecessor"), expiresAt: try row.get("expires_at"), state: try State(row),
            repeats: try row.get("repeats"),
            isOfVerifiedUser: try row.get("email_verified", as: Bool?.self) ?? true,
            hasEnded: try row.get("ended_at", as: Timestamp?.self) != nil, standing: try Standing(row, of: user))
    }
}

extension RefreshToken.State {
    fileprivate init(_ row: Row) throws {
        guard let rotatedAt = try row.get("rotated_at", as: Timestamp?.self) else {
            self = .current
            return
        }
        let rotation = RefreshToken.Rotation(at: rotatedAt, sealed: try row.get("sealed_successor"))
        let confirmedAt: Timestamp? = try row.get("confirmed_at")
        self = confirmedAt == nil ? .rotated(rotation) : .confirmed(rotation)
    }
}
