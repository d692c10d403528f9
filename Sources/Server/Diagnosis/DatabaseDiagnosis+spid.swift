import Directory
import JSON
import Storage

extension DatabaseDiagnosis {
    /// Lists the SPiD-compatible clients with settings that weaken them. Empty when there are none.
    func weakenedFindings() async -> [Finding] {
        do {
            let clients = try await database.read { db in
                try db.rows(
                    """
                    SELECT id, name, spid FROM clients
                    WHERE spid <> '{}' AND \(ClientRight.haveSPiDSettings.held(by: "clients"))
                        AND disabled_at IS NULL ORDER BY id
                    """
                ).map { row in
                    (
                        name: "\(try row.get("id", as: String.self)) (\(try row.get("name", as: String.self)))",
                        settings: try JSON(stored: try row.get("spid", as: String.self))
                    )
                }
            }
            func finding(_ subject: String, _ told: String, _ isSet: (JSON) -> Bool) -> Finding? {
                let names = clients.filter { isSet($0.settings) }.map(\.name)
                guard !names.isEmpty else { return nil }
                return Finding(subject, .warning, "\(told) for \(names.count): " + names.joined(separator: ", "))
            }
            return [
                // A reader of the token in a browser's history can buy codes, too.
                finding("front channel", "tokens of the implicit grant buy codes") {
                    $0["exchange_front_channel_tokens"]?.bool == true
                },
                // A holder of the other client's access token can get this client's refresh tokens, too.
                finding("public codes", "another client's tokens buy codes that need no secret") {
                    $0["public_exchange_codes_from"]?.array?.isEmpty == false
                },
                // A stolen code's second redemption goes unnoticed, whichever side comes first.
                finding("codes", "a code may be redeemed twice") { $0["codes_redeemed_twice"]?.bool == true },
            ].compactMap(\.self)
        } catch {
            return [Finding("SPiD's clients", .bad, Self.reason(error))]
        }
    }
}
