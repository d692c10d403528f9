public import JSON
public import Storage
public import Values

extension IssuerSubjects {
    /// The user's identifiers at other issuers, for the user's own data export, in an open transaction.
    public static func members(of user: UserID, in db: any Transaction) throws -> [JSON.Member] {
        let links: [JSON] = try db.rows(
            """
            SELECT i.issuer, s.subject, s.created_at FROM issuer_subjects s JOIN issuers i ON i.id = s.issuer_id
            WHERE s.user_id = \(user)
            """
        ).map { row in
            .members([
                "issuer": .string(try row.get("issuer")), "subject": .string(try row.get("subject")),
                "since": .string(try row.get("created_at", as: Timestamp.self).iso8601),
            ])
        }
        return [.init("issuer_subjects", .array(links))]
    }
}
