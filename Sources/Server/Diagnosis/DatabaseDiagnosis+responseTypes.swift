import JSON
import Storage

extension DatabaseDiagnosis {
    /// Lists the clients of administrators that may ask for access tokens in an authorization response, where they leak
    /// (RFC 9700 §2.1.2). Of those that registered themselves the configuration tells. Nil when there are none.
    func responseTypesFinding() async -> Finding? {
        do {
            let names = try await database.read { db in
                try db.rows(
                    """
                    SELECT id, name, openid FROM clients
                    WHERE openid <> '{}' AND registration_token IS NULL AND disabled_at IS NULL ORDER BY id
                    """
                ).compactMap { row -> String? in
                    let settings = try JSON(stored: try row.get("openid", as: String.self))
                    let types = settings["response_types"]?.array ?? []
                    let hasToken = types.contains { $0.string?.split(separator: " ").contains("token") == true }
                    guard hasToken else { return nil }
                    return "\(try row.get("id", as: String.self)) (\(try row.get("name", as: String.self)))"
                }
            }
            guard !names.isEmpty else { return nil }
            return Finding(
                "response types", .warning,
                "access tokens go through addresses for \(names.count): " + names.joined(separator: ", "))
        } catch {
            return Finding("response types", .bad, Self.reason(error))
        }
    }
}
