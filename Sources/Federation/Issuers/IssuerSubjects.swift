public import Directory
import JSON
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

/// A link to an issuer that a user may sign in with.
public struct IssuerLink: Sendable {
    public let issuer: TrustedIssuer.ID
    public let subject: String
    /// The name of the provider, or else of the issuer.
    public let name: String
    public let since: Timestamp
}

extension IssuerSubjects {
    /// All links of `user`, the newest first.
    public func list(of user: UserID) async throws -> [IssuerLink] {
        try await database.read { db in
            try db.rows(
                """
                SELECT s.issuer_id, s.subject, s.created_at, o.issuer, o.provider
                FROM issuer_subjects s JOIN issuer_settings o ON o.issuer_id = s.issuer_id
                WHERE s.user_id = \(user)
                ORDER BY s.created_at DESC, s.issuer_id, s.subject
                """
            ).map { row in
                let provider: String? = try row.get("provider")
                return IssuerLink(
                    issuer: try row.get("issuer_id"), subject: try row.get("subject"),
                    name: try provider.flatMap(Provider.init(rawValue:))?.name ?? row.get("issuer"),
                    since: try row.get("created_at"))
            }
        }
    }

    /// Removes one link of the user of `session`; a link of another user stays. Until the user connects the issuer
    /// again, the address does not lead to them, no app links them, and the subject gets no new user. What rests on the
    /// issuer's word ends, except `session`. False when it is the user's only way to sign in.
    public func remove(
        _ subject: String, of issuer: TrustedIssuer.ID, in session: Session, at now: Timestamp
    ) async throws -> Bool {
        try await remove(subject, of: issuer, from: session.user, keeping: session.id, at: now)
    }

    /// As above for any user, and with any session that is kept; `authority` removes it for the user.
    package func remove(
        _ subject: String, of issuer: TrustedIssuer.ID, from user: UserID, keeping session: Session.ID?,
        at now: Timestamp, by authority: (any Authority)? = nil
    ) async throws -> Bool {
        let said = events.announcement(at: now, by: authority?.actor)
        let isRemoved = try await database.write { db in
            try authority?.confirm(in: db)
            guard try Self.hasAnotherWay(user, than: subject, of: issuer, in: db) else { return false }
            let isOwn = try !Self.isConfined(subject, of: issuer, in: db)
            let removed = try db.execute(
                """
                DELETE FROM issuer_subjects
                WHERE issuer_id = \(issuer) AND subject = \(subject) AND user_id = \(user)
                """)
            guard removed == 1 else { return true }
            try RemovedSignIns.note(isOwn ? subject : nil, of: issuer, by: user, at: now, in: db)
            try said.say(.unlinked(issuer: issuer.text, keeping: session, wasConfined: !isOwn), user, db)
            return true
        }
        said.send()
        return isRemoved
    }

    /// Whether `user` can sign in to the account without that link: codes go to an address, with or without a password,
    /// and a provider's own sign-in is good everywhere.
    private static func hasAnotherWay(
        _ user: UserID, than subject: String, of issuer: TrustedIssuer.ID, in db: any Transaction
    ) throws -> Bool {
        guard try User.find(user, in: db)?.email == nil else { return true }
        return try TrustedIssuers.signIns(
            connectedTo: user, by: "NOT (l.issuer_id = \(issuer) AND l.subject = \(subject))", in: db
        ).contains(where: \.isTrustedByAll)
    }
}

extension IssuerSubjects {
    /// Removes links that another user may have made.
    public static let subscriber = UserEvents.Subscriber(
        "IssuerSubjects",
        [
            .on(.takenOver, "removes the links to subjects of other issuers, and what is known of removed ones") {
                _, user, _, db in
                try unlink(user, in: db)
            },
            // Otherwise the merchant's backend, which may have its own account at the provider, could sign in as the
            // user again.
            .on(.disconnected, "removes the links that the merchant's clients made, with what they led to") {
                event, user, announcement, db in
                guard case .disconnected(let merchant) = event else { return }
                for issuer in try unlink(user, confinedTo: merchant, in: db) {
                    try announcement.say(.unlinked(issuer: issuer.text, keeping: nil, wasConfined: true), user, db)
                }
            },
        ])
}

extension IssuerSubjects {
    /// The subjects by which other issuers know the user.
    static let export = StoredTable.Export.member("issuer_subjects") { user, db in
        .array(
            try db.rows(
                """
                SELECT o.issuer, s.subject, s.created_at
                FROM issuer_subjects s JOIN issuer_settings o ON o.issuer_id = s.issuer_id
                WHERE s.user_id = \(user)
                """
            ).map { row in
                .members([
                    "issuer": .string(try row.get("issuer")), "subject": .string(try row.get("subject")),
                    "since": try row.utc("created_at"),
                ])
            })
    }
}
