public import Directory
import Storage
public import Values

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
        let (user, said) = (session.user, events.announcement(at: now))
        let isRemoved = try await database.write { db in
            guard try Self.hasAnotherWay(user, than: subject, of: issuer, in: db) else { return false }
            let isOwn = try !Self.isConfined(subject, of: issuer, in: db)
            let removed = try db.execute(
                """
                DELETE FROM issuer_subjects
                WHERE issuer_id = \(issuer) AND subject = \(subject) AND user_id = \(user)
                """)
            guard removed == 1 else { return true }
            try RemovedSignIns.note(isOwn ? subject : nil, of: issuer, by: user, at: now, in: db)
            try said.say(.unlinked(issuer: issuer.text, keeping: session.id, wasConfined: !isOwn), user, db)
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
