public import Storage
public import Values

/// Whom an issuer means by a subject: links of one merchant's own issuer, and of nobody else's.
public struct IssuerSubjects: Sendable {
    let database: any Database

    public init(database: any Database) { self.database = database }

    /// The person that a subject is linked to.
    public struct Link: Sendable, Equatable {
        public let user: UserID
        /// By administration, or because its person wants it deleted.
        public let isDisabled: Bool
        /// Because its person wants it deleted, and for no other reason.
        public let isLeaving: Bool
    }

    public func find(_ subject: String, of issuer: TrustedIssuer.ID) async throws -> Link? {
        try await database.read { db in try Self.find(subject, of: issuer, in: db) }
    }

    static func find(_ subject: String, of issuer: TrustedIssuer.ID, in db: any Transaction) throws -> Link? {
        try db.rows(
            """
            SELECT s.user_id, a.disabled_at, a.deletion_due_at
            FROM issuer_subjects s JOIN users a ON a.id = s.user_id
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

    /// Whether `issuer` knows the person of `user` by any subject.
    static func has(
        _ user: UserID, linkedTo issuer: TrustedIssuer.ID, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            "SELECT subject FROM issuer_subjects WHERE user_id = \(user) AND issuer_id = \(issuer)"
        ).isEmpty
    }

    /// Links a subject to a person, in the caller's transaction, which has seen that it is not linked. A confined link was
    /// asked for by a client of the issuer's merchant, with a token of the person, whom nobody asked.
    static func link(
        _ subject: String, of issuer: TrustedIssuer.ID, to user: UserID, isConfined: Bool = false,
        at now: Timestamp, in db: any Transaction
    ) throws {
        try db.execute(
            """
            INSERT INTO issuer_subjects (issuer_id, subject, user_id, is_confined, created_at)
            VALUES (\(issuer), \(subject), \(user), \(isConfined), \(now))
            """)
    }

    /// Whether the link leads into the applications of the issuer's merchant and no further.
    static func isConfined(_ subject: String, of issuer: TrustedIssuer.ID, in db: any Transaction) throws -> Bool {
        try !db.rows(
            """
            SELECT subject FROM issuer_subjects
            WHERE issuer_id = \(issuer) AND subject = \(subject) AND is_confined = 1
            """
        ).isEmpty
    }

    /// The person has asked for the link in a browser, too.
    static func release(_ subject: String, of issuer: TrustedIssuer.ID, in db: any Transaction) throws {
        try db.execute(
            "UPDATE issuer_subjects SET is_confined = 0 WHERE issuer_id = \(issuer) AND subject = \(subject)")
    }

    /// Takes away all links of a person, in the caller's transaction: who made them may have been somebody else.
    public static func unlink(_ user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("DELETE FROM issuer_subjects WHERE user_id = \(user)")
    }
}
