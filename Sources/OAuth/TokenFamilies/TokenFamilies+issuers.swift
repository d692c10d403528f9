public import Directory
import Storage
public import Values

/// Token families that come from the assertions of trusted issuers.
extension TokenFamilies {
    /// Ends those of `user` for whose sign-in the issuer with the id `issuer` vouched, except those that were got in
    /// the browser session `kept`, and what came from them.
    static func end(
        of user: UserID, assertedBy issuer: String, except kept: Session.ID?,
        telling announcement: CallbackAnnouncement,
        in db: any Transaction
    ) throws {
        var keptFamilies: Set<String> = []
        var ending: [String] = []
        // What came from a family is younger.
        for row in try db.rows(
            """
            SELECT id, parent_id, session_id FROM token_families
            WHERE user_id = \(user) AND issuer_id = \(issuer) AND ended_at IS NULL ORDER BY created_at, id
            """
        ) {
            let id: String = try row.get("id")
            let isGotThere = try kept.map { kept in try row.get("session_id", as: String?.self) == kept.text } ?? false
            let isOfKept = try row.get("parent_id", as: String?.self).map(keptFamilies.contains) ?? false
            if isGotThere || isOfKept {
                keptFamilies.insert(id)
            } else {
                ending.append(id)
            }
        }
        try end(families: ending, of: user, telling: announcement, in: db)
    }

    /// Ends live families of `user`, with the browser sessions that they bought.
    static func end(
        families ending: [String], of user: UserID, telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        guard !ending.isEmpty else { return }
        try tellingOfBought(user, ending: ending.map { TokenFamily.ID($0) }, announcement, in: db) {
            for some in some(of: ending) {
                try db.execute("UPDATE token_families SET ended_at = \(announcement.now) WHERE id IN (\(list: some))")
            }
        }
    }

    /// Ends families of clients of `merchant` for whose sign-in its issuer with the id `issuer` vouched, as many as one
    /// transaction should. Whether there may be more. Those of other merchants' clients are none of its business.
    public func endAsserted(by issuer: String, of merchant: Merchant.ID, at now: Timestamp) async throws -> Bool {
        let announcement = callbacks.announcement(at: now)
        let count = try await database.write { db in
            let families = try db.rows(
                """
                SELECT id FROM token_families
                WHERE issuer_id = \(issuer) AND ended_at IS NULL
                    AND client_id IN (SELECT id FROM clients WHERE merchant_id = \(merchant))
                LIMIT \(Self.endedAtOnce)
                """)
            for row in families { try Self.end(try row.get("id"), telling: announcement, in: db) }
            return families.count
        }
        announcement.send()
        return count == Self.endedAtOnce
    }

    private static let endedAtOnce = 50
}
