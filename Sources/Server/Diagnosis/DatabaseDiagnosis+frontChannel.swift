import JSON
import Storage

extension DatabaseDiagnosis {
    /// Lists the clients whose tokens of the implicit grant buy codes and sessions: whoever reads such a token in a
    /// browser's history can buy, too. Nil when there are none.
    func frontChannelFinding() async -> Finding? {
        do {
            let names = try await database.read { db in
                try db.rows(
                    """
                    SELECT id, name, spid FROM clients
                    WHERE spid <> '{}' AND spid_compatible = 1 AND disabled_at IS NULL ORDER BY id
                    """
                ).compactMap { row -> String? in
                    let settings = try JSON(stored: try row.get("spid", as: String.self))
                    guard settings["exchange_front_channel_tokens"]?.bool == true else { return nil }
                    return "\(try row.get("id", as: String.self)) (\(try row.get("name", as: String.self)))"
                }
            }
            guard !names.isEmpty else { return nil }
            return Finding(
                "front channel", .warning,
                "tokens of the implicit grant buy codes and sessions for \(names.count): "
                    + names.joined(separator: ", "))
        } catch {
            return Finding("front channel", .bad, Self.reason(error))
        }
    }
}
