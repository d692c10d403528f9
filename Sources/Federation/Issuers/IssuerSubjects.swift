public import Directory
public import Storage
public import Values

/// The users that an issuer's subjects are linked to. A link counts for one merchant's issuer only.
public struct IssuerSubjects: Sendable {
    let database: any Database
    let events: UserEvents

    public init(database: any Database, events: UserEvents) {
        self.database = database
        self.events = events
    }

    /// The user that a subject is linked to.
    public struct Link: Sendable, Equatable {
        public let user: UserID
        /// Set by an administrator, or because the user asked for deletion.
        public let isDisabled: Bool
        /// The user asked for deletion, and is not disabled for another reason.
        public let isLeaving: Bool
    }

    public func find(_ subject: String, of issuer: TrustedIssuer.ID) async throws -> Link? {
        try await database.read { db in try Self.find(subject, of: issuer, in: db) }
    }

    static func find(_ subject: String, of issuer: TrustedIssuer.ID, in db: any Transaction) throws -> Link? {
        try db.rows(
            """
            SELECT s.user_id, u.disabled_at, u.deletion_due_at
            FROM issuer_subjects s JOIN users u ON u.id = s.user_id
            WHERE s.issuer_id = \(issuer) AND s.subject = \(subject)
            """
        ).first.map { row in
            let isDisabled = try row.get("disabled_at", as: Timestamp?.self) != nil
            let isLeaving = try row.get("deletion_due_at", as: Timestamp?.self) != nil
            return Link(
                user: try row.get("user_id"), isDisabled: isDisabled || isLeaving,
                isLeaving: isLeaving && !isDisabled)
        }
    }

    /// Whether `user` is linked to any subject of `issuer`.
    static func has(
        _ user: UserID, linkedTo issuer: TrustedIssuer.ID, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            "SELECT subject FROM issuer_subjects WHERE user_id = \(user) AND issuer_id = \(issuer)"
        ).isEmpty
    }

    /// Whether `user` is linked to another subject than `subject`, and not to `subject`, at any merchant's issuer that
    /// stands for the same provider. Links that a merchant's client attached do not count, because they are only that
    /// merchant's word.
    static func has(
        _ user: UserID, linkedToOtherThan subject: String, atProviderOf issuer: TrustedIssuer.ID,
        in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            """
            SELECT subject FROM issuer_subjects
            WHERE user_id = \(user) AND subject <> \(subject) AND is_confined = 0
                AND issuer_id IN (\(ofSameProvider(as: issuer)))
                AND NOT EXISTS (
                    SELECT 1 FROM issuer_subjects s WHERE s.user_id = \(user) AND s.subject = \(subject)
                        AND s.is_confined = 0 AND s.issuer_id IN (\(ofSameProvider(as: issuer))))
            """
        ).isEmpty
    }

    /// The ids of `issuer`, and of all merchants' issuers that stand for the same provider.
    private static func ofSameProvider(as issuer: TrustedIssuer.ID) -> SQL {
        """
        SELECT s.issuer_id FROM issuer_settings s
        WHERE s.issuer_id = \(issuer)
            OR s.provider = (SELECT o.provider FROM issuer_settings o WHERE o.issuer_id = \(issuer))
        """
    }

    /// Links a subject to a user, in the caller's transaction, which has checked that it is not linked. A confined link
    /// was requested by a client of the issuer's merchant with the user's token, and not by the user.
    static func link(
        _ subject: String, of issuer: TrustedIssuer.ID, to user: UserID, isConfined: Bool = false,
        at now: Timestamp, in db: any Transaction
    ) throws {
        if !isConfined { try RemovedSignIns.forget(issuer, by: user, in: db) }
        try db.execute(
            """
            INSERT INTO issuer_subjects (issuer_id, subject, user_id, is_confined, created_at)
            VALUES (\(issuer), \(subject), \(user), \(isConfined), \(now))
            """)
    }

    /// Links a subject that an import brings, in its transaction.
    public static func keep(
        _ subject: String, of issuer: TrustedIssuer.ID, for user: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        try link(subject, of: issuer, to: user, at: now, in: db)
    }

    /// Those of `subjects` that are linked, each with its issuer.
    public static func linked(
        _ subjects: [String], in db: any Transaction
    ) throws -> [(issuer: TrustedIssuer.ID, subject: String)] {
        guard !subjects.isEmpty else { return [] }
        return try db.rows("SELECT issuer_id, subject FROM issuer_subjects WHERE subject IN (\(list: subjects))")
            .map { (issuer: try $0.get("issuer_id"), subject: try $0.get("subject")) }
    }

    /// Whether an issuer `i` has links.
    static let areLeft: SQL = "EXISTS (SELECT 1 FROM issuer_subjects l WHERE l.issuer_id = i.id)"

    /// Whether the link is good only for the applications of the issuer's merchant.
    static func isConfined(_ subject: String, of issuer: TrustedIssuer.ID, in db: any Transaction) throws -> Bool {
        try !db.rows(
            """
            SELECT subject FROM issuer_subjects
            WHERE issuer_id = \(issuer) AND subject = \(subject) AND is_confined = 1
            """
        ).isEmpty
    }

    /// Ends the confinement, because the user asked for the link in a browser too. False when there was none.
    static func release(
        _ subject: String, of issuer: TrustedIssuer.ID, for user: UserID, in db: any Transaction
    ) throws -> Bool {
        let released = try db.execute(
            """
            UPDATE issuer_subjects SET is_confined = 0
            WHERE issuer_id = \(issuer) AND subject = \(subject) AND is_confined = 1
            """)
        guard released == 1 else { return false }
        try RemovedSignIns.forget(issuer, by: user, in: db)
        return true
    }

    /// Removes all links of a user, in the caller's transaction, and forgets removed ones: another user may have made
    /// or removed them.
    static func unlink(_ user: UserID, in db: any Transaction) throws {
        try db.execute("DELETE FROM issuer_subjects WHERE user_id = \(user)")
        try RemovedSignIns.forgetAll(of: user, in: db)
    }

    /// Removes the links of a user that clients of `merchant` made, in the caller's transaction, and returns their
    /// issuers.
    static func unlink(
        _ user: UserID, confinedTo merchant: Merchant.ID, in db: any Transaction
    ) throws -> [TrustedIssuer.ID] {
        let issuers: [TrustedIssuer.ID] = try db.rows(
            """
            SELECT DISTINCT s.issuer_id FROM issuer_subjects s JOIN issuers i ON i.id = s.issuer_id
            WHERE s.user_id = \(user) AND s.is_confined = 1 AND i.merchant_id = \(merchant)
            """
        ).map { try $0.get("issuer_id") }
        guard !issuers.isEmpty else { return [] }
        try db.execute(
            """
            DELETE FROM issuer_subjects
            WHERE user_id = \(user) AND is_confined = 1 AND issuer_id IN (\(list: issuers))
            """)
        return issuers
    }
}
