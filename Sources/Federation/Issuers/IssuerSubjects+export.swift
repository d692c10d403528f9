import JSON
import Storage

extension IssuerSubjects {
    /// The names by which other issuers know the user.
    static let export = StoredTable.Export.member("issuer_subjects") { user, db in
        .array(
            try db.rows(
                """
                SELECT i.issuer, s.subject, s.created_at FROM issuer_subjects s JOIN issuers i ON i.id = s.issuer_id
                WHERE s.user_id = \(user) AND i.deleted_at IS NULL
                """
            ).map { row in
                .members([
                    "issuer": .string(try row.get("issuer")), "subject": .string(try row.get("subject")),
                    "since": try row.utc("created_at"),
                ])
            })
    }
}
