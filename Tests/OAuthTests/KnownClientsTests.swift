@testable import Directory
import Storage
import TestSupport
import Testing
import Values

@testable import OAuth

@Suite("The cache of clients")
struct KnownClientsTests {
    @Test("A cached client that is no longer used is removed when another client is looked up")
    func letGo() async throws {
        let fixture = try await AuthorizationFixture()
        let known = KnownClients(clock: fixture.clock)
        let client = try #require(try await fixture.client(.own))
        func ask(_ id: String) async throws {
            _ = try await known.entry(Client.ID(id)) { KnownClients.Entry(client: client, secrets: [], isLive: true) }
        }
        for number in 0..<100 { try await ask("\(number)") }
        #expect(known.count == 100)
        fixture.clock.advance(by: KnownClients.memory)
        try await ask("another")
        #expect(known.count == 1)
        await fixture.database.close()
    }
}
