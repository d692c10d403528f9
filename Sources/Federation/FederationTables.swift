import Directory
import Keys
import OAuth
public import Storage

extension TrustedIssuers {
    static let table = StoredTable(
        "issuer_settings",
        retention: [
            // Directory's rows of deleted issuers. This module knows the other tables that refer to them.
            .statement("goneIssuers") { _, batch in
                Issuers.forgetting(
                    unless: "\(IssuerSubjects.areLeft) OR \(TokenFamilies.restOnIssuer)", batch: batch)
            }
        ],
        ofMerchant: .batches(owner: "merchant_id", key: "issuer_id"),
        sealed: [
            (SealedPlace.issuerSecret.rawValue, "sealed_secret"), (SealedPlace.appSecret.rawValue, "sealed_app_secret"),
            (SealedPlace.upstreamSecret.rawValue, "sealed_client_secret"),
        ], sealedBy: "issuer_id")
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

extension IdentityProviderRequests {
    static let table = StoredTable(
        "provider_requests", retention: [.rows("providerRequests", key: "state", until: "expires_at")],
        ofUser: .cascade, ofMerchant: .cascade)
}

extension StoredTable {
    /// The tables of this module, children first.
    public static let ofFederation = [
        IssuerSubjects.table, RemovedSignIns.table, IdentityProviderRequests.table, TrustedIssuers.table,
    ]
}
