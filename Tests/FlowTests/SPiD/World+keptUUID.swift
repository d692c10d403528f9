import Storage
import TestSupport
import Testing
import Values

extension World {
    /// A new user with `uuid`, as an import keeps it, whom no client knows.
    func newcomer(keeping uuid: String) async throws {
        let id = try #require(Int64(try await newcomer("mary@example.com")))
        let changed = try await server.database.write { db in
            try db.execute("UPDATE users SET subject = \(uuid) WHERE id = \(id)")
        }
        #expect(changed == 1)
    }
}
