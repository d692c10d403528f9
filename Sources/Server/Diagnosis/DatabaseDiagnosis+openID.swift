import Directory
import JSON
import Storage

/// Clients whose OpenID Connect settings weaken what others rely on.
extension DatabaseDiagnosis {
    /// Lists the clients whose ID tokens are signed with a secret shared with this server: a holder of the secret can
    /// make them. Nil when there are none.
    func sharedSecretFinding() async -> Finding? {
        await finding("ID tokens", "signed with a shared secret for", of: .always) { settings in
            settings["id_token_signed_response_alg"] == "HS256"
        }
    }

    /// Lists clients, except self-registered ones, that may ask for access tokens in an authorization response, where
    /// tokens leak (RFC 9700 §2.1.2). The configuration tells about self-registered ones. Nil when there are none.
    func responseTypesFinding() async -> Finding? {
        await finding(
            "response types", "access tokens are sent in URLs for",
            of: ClientRight.belongToMerchant.held(by: "clients")
        ) { settings in
            let types = settings["response_types"]?.array ?? []
            return types.contains { $0.string?.split(separator: " ").contains("token") == true }
        }
    }

    /// Warns of those enabled clients meeting `condition` whose settings are weak; nil when there are none.
    private func finding(
        _ subject: String, _ text: String, of condition: SQL, where isWeak: @escaping @Sendable (JSON) -> Bool
    ) async -> Finding? {
        do {
            let names = try await database.read { db in
                try db.rows(
                    """
                    SELECT id, name, openid FROM clients
                    WHERE openid <> '{}' AND \(condition) AND disabled_at IS NULL ORDER BY id
                    """
                ).compactMap { row -> String? in
                    guard isWeak(try JSON(stored: try row.get("openid", as: String.self))) else { return nil }
                    return "\(try row.get("id", as: String.self)) (\(try row.get("name", as: String.self)))"
                }
            }
            guard !names.isEmpty else { return nil }
            return Finding(subject, .warning, "\(text) \(names.count): " + names.joined(separator: ", "))
        } catch {
            return Finding(subject, .bad, Self.reason(error))
        }
    }
}
