import JSON
import Storage

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
