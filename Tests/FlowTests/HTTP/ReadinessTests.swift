import Cryptography
import Keys
import Storage
import TestSupport
import Testing

@Suite("Readiness")
struct ReadinessTests {
    @Test("a server is ready whose database was resealed under another master key", arguments: Backend.available)
    func resealed(backend: Backend) async throws {
        try await TestServer.with(backend) { server in
            #expect(try await server.get("/readyz").status == 200)
            let other = MasterKey.random(from: SystemRandom())
            try await server.database.write { db in try MasterKeyCheck(other).store(in: db) }
            #expect(try await server.get("/readyz").status == 503)
            #expect(try await server.get("/healthz").status == 200)
        }
    }
}
