public import Directory
public import Storage
public import Values

extension TokenFamilies {
    /// Ends families that clients of `merchant` got by a sign-in at its issuer `issuer`, as many as one transaction
    /// should. Returns whether there may be more. Other merchants' families are not touched.
    public func endAsserted(by issuer: String, of merchant: Merchant.ID, at now: Timestamp) async throws -> Bool {
        let announcement = callbacks.announcement(at: now)
        let count = try await database.write { db in
            let families: [(user: UserID, id: TokenFamily.ID)] = try db.rows(
                """
                SELECT id, user_id FROM token_families
                WHERE issuer_id = \(issuer) AND ended_at IS NULL
                    AND client_id IN (SELECT id FROM clients WHERE merchant_id = \(merchant))
                LIMIT \(Self.endedAtOnce)
                """
            ).map { (try $0.get("user_id"), try $0.get("id")) }
            for (user, some) in Dictionary(grouping: families, by: \.user) {
                try Ending.carryOut(.familiesEnd(some.map(\.id)), of: user, telling: announcement, at: now, in: db)
            }
            return families.count
        }
        announcement.send()
        return count == Self.endedAtOnce
    }

    private static let endedAtOnce = 50

    /// Whether live families rest on an issuer `i`.
    public static let restOnIssuer: SQL =
        "EXISTS (SELECT 1 FROM token_families f WHERE f.issuer_id = i.id AND f.ended_at IS NULL)"

    /// Whether the end of the issuer ends any of them.
    public static let endWithIssuer: SQL =
        """
        EXISTS (
            SELECT 1 FROM token_families f
            WHERE f.issuer_id = i.id AND f.ended_at IS NULL
                AND f.client_id IN (SELECT k.id FROM clients k WHERE k.merchant_id = i.merchant_id))
        """
}
