import JSON
import Storage

extension DatabaseDiagnosis {
    /// Lists the clients whose ID tokens are signed with a secret that they share with this server: whoever has it can
    /// make them. Nil when there are none.
    func sharedSecretFinding() async -> Finding? {
        do {
            let names = try await database.read { db in
                try db.rows(
                    "SELECT id, name, openid FROM clients WHERE openid <> '{}' AND disabled_at IS NULL ORDER BY id"
                ).compactMap { row -> String? in
                    let settings = try JSON(stored: try row.get("openid", as: String.self))
                    guard settings["id_token_signed_response_alg"] == "HS256" else { return nil }
                    return "\(try row.get("id", as: String.self)) (\(try row.get("name", as: String.self)))"
                }
            }
            guard !names.isEmpty else { return nil }
            return Finding(
                "ID tokens", .warning,
                "signed with a shared secret for \(names.count): " + names.joined(separator: ", "))
        } catch {
            return Finding("ID tokens", .bad, Self.reason(error))
        }
    }
}
