import Directory
import JSON
import Keys
public import Storage
import Values

extension TrustedIssuers {
    static let table = StoredTable(
        "issuers",
        retention: [
            // Kept for links that users removed, who are gone since.
            .statement("keptIssuers") { _, batch in
                """
                DELETE FROM issuers WHERE id IN (
                    SELECT i.id FROM issuers i
                    WHERE i.deleted_at = 0
                        AND NOT EXISTS (SELECT 1 FROM removed_links r WHERE r.issuer_id = i.id) LIMIT \(batch))
                """
            }
        ],
        ofMerchant: .steps { merchant, batch, db in
            let some: [TrustedIssuer.ID] = try db.rows(
                "SELECT id FROM issuers WHERE merchant_id = \(merchant) LIMIT \(batch)"
            ).map { try $0.get("id") }
            guard !some.isEmpty else { return 0 }
            // A provider's word is good for all merchants, and the sessions by it outlive this one.
            for issuer in some { try ClosedIssuers.noteGone(issuer.text, of: merchant, in: db) }
            try RemovedLinks.keepProviders(of: some, in: db)
            return try db.execute("DELETE FROM issuers WHERE id IN (\(list: some))")
        },
        sealed: [
            (SealedPlace.issuerSecret.rawValue, "sealed_secret"), (SealedPlace.appSecret.rawValue, "sealed_app_secret"),
            (SealedPlace.upstreamSecret.rawValue, "sealed_client_secret"),
        ])
}

extension IssuerSubjects {
    static let table = StoredTable(
        "issuer_subjects", ofUser: .cascade,
        ofMerchant: .steps { merchant, batch, db in
            try db.execute(
                """
                DELETE FROM issuer_subjects WHERE issuer_id IN (SELECT id FROM issuers WHERE merchant_id = \(merchant))
                    AND subject IN (
                        SELECT s.subject FROM issuers i JOIN issuer_subjects s ON s.issuer_id = i.id
                        WHERE i.merchant_id = \(merchant) LIMIT \(batch))
                """)
        }, export: [IssuerSubjects.export])
}

/// Issuers that users have disconnected (`IssuerSubjects.remove`).
enum RemovedLinks {
    static let table = StoredTable(
        "removed_links", ofUser: .cascade, ofMerchant: .cascade, export: [export])

    private static let export = StoredTable.Export.member("removed_links") { user, db in
        .array(
            try db.rows(
                """
                SELECT i.issuer, r.created_at FROM removed_links r JOIN issuers i ON i.id = r.issuer_id
                WHERE r.user_id = \(user)
                """
            ).map { row in
                // The name of an issuer that is deleted is followed by its id.
                let issuer = try row.get("issuer", as: String.self).prefix { $0 != " " }
                return .members(["issuer": .string(String(issuer)), "since": try row.utc("created_at")])
            })
    }

    /// Keeps the providers of `issuers`, which go with their merchant: no other merchant's is to be linked again.
    static func keepProviders(of issuers: [TrustedIssuer.ID], in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO removed_providers (user_id, provider, created_at)
            SELECT r.user_id, i.provider, r.created_at FROM removed_links r JOIN issuers i ON i.id = r.issuer_id
            WHERE r.issuer_id IN (\(list: issuers)) AND i.provider IS NOT NULL
            ON CONFLICT (user_id, provider) DO NOTHING
            """)
    }

    /// Providers that users have disconnected at issuers of merchants that are gone.
    static let providers = StoredTable(
        "removed_providers", ofUser: .cascade,
        export: [
            StoredTable.Export.member("removed_providers") { user, db in
                .array(
                    try db.rows("SELECT provider, created_at FROM removed_providers WHERE user_id = \(user)").map {
                        row in
                        .members(["provider": .string(try row.get("provider")), "since": try row.utc("created_at")])
                    })
            }
        ])

    /// The subjects of these links, but for those that a merchant's app had attached.
    static let subjects = StoredTable(
        "removed_subjects", ofUser: .cascade, ofMerchant: .cascade,
        export: [
            StoredTable.Export.member("removed_subjects") { user, db in
                .array(
                    try db.rows("SELECT subject FROM removed_subjects WHERE user_id = \(user)").map { row in
                        .string(try row.get("subject"))
                    })
            }
        ])
}

extension IdentityProviderRequests {
    static let table = StoredTable(
        "provider_requests", retention: [.rows("providerRequests", key: "state", until: "expires_at")],
        ofUser: .cascade, ofMerchant: .cascade)
}

extension StoredTable {
    /// The tables of this module, children first.
    public static let ofFederation = [
        IssuerSubjects.table, RemovedLinks.table, RemovedLinks.subjects, RemovedLinks.providers,
        IdentityProviderRequests.table, TrustedIssuers.table,
    ]
}
