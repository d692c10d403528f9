import JSON
import Storage
import TestSupport
import Testing

@Suite("A call about a user reads no other client whole")
struct UsedClientTests {
    @Test("A call about a user does not read the user's other clients whole", arguments: Backend.available)
    func others(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (unused, loom) = (try await world.spidBackend(), try await world.spidBackend())
            let news = try await world.spidBackend([
                "client_name": "Loom's news", "web_origins": ["https://news.example/today", "https://loom.example"],
            ])
            for client in [loom, news] { #expect(try await world.signIn(with: client).status == 200) }
            // Whoever reads it whole fails.
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE clients SET openid = 'no JSON' WHERE id = \(news.id)")
            }
            let path = "user/\(world.user)"
            for client in [unused, loom] {
                let token = try await world.clientToken(client)
                for rest in ["products", "agreements", "connected?clientId=\(loom.id)"] {
                    #expect(try await world.api("\(path)/\(rest)", token).status == 200, "\(rest)")
                }
                #expect(try await world.api("\(path)/agreements/accept", token, [:]).status == 200)
            }
            let token = try await world.clientToken(loom)
            #expect(try await world.api("\(path)/trigger/newpassword", token).status == 201)
            let accounts = try await world.api(path, token).data["accounts"]
            #expect(
                accounts?[news.id] == [
                    "id": .string(news.id), "accountName": "Loom's news", "domain": "https://news.example",
                ])
            #expect(accounts?[loom.id]?["domain"] == "", "it has no page")
        }
    }
}
