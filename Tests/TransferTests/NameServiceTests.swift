import Dispatch
import Synchronization
import Testing
import Values

@testable import Transfer

@Suite("Name resolution") struct NameServiceTests {
    @Test("a name has its IP addresses, an unknown one none")
    func addresses() async throws {
        let names = NameService()
        let found = try await names.addresses(of: "localhost", within: .seconds(60))
        #expect(found.contains { $0.description == "127.0.0.1" || $0.description == "::1" })
        // An old way to write one, which the system knows.
        #expect(try await names.addresses(of: "127.1", within: .seconds(60)).map(\.description) == ["127.0.0.1"])
        #expect(try await names.addresses(of: "nobody.invalid", within: .seconds(60)).isEmpty)
    }

    /// A name service that does not answer until `release`.
    private final class Dead: Sendable {
        let gate = DispatchSemaphore(value: 0)
        let asked = Atomic(0)
        var names: NameService {
            NameService(mostAtOnce: 8) { [self] _ in
                asked.add(1, ordering: .sequentiallyConsistent)
                gate.wait()
                return []
            }
        }
        func release() { for _ in 1...64 { gate.signal() } }
    }

    @Test("a lookup without an answer ends at its deadline, and holds neither its place nor a transfer")
    func dead() async throws {
        let dead = Dead()
        defer { dead.release() }
        let names = dead.names
        // Eight wait at once, four for one purpose; a time-out makes room, until too many threads hang.
        for round in 1...4 {
            await withTaskGroup(of: Void.self) { group in
                for number in 1...8 {
                    group.addTask {
                        await #expect(throws: NameServiceError.timedOut) {
                            try await names.addresses(
                                of: "\(round)-\(number).example", within: .milliseconds(100), for: "\(number % 2)")
                        }
                    }
                }
            }
        }
        await #expect(throws: NameServiceError.busy) {
            try await names.addresses(of: "one.too.many.example", within: .seconds(60))
        }
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(try await Requests.client().send(Requests.request(server.url)).status == 204)
    }

    @Test("lookups that hang for one purpose leave room for the others")
    func purposes() async throws {
        let dead = Dead()
        defer { dead.release() }
        let names = dead.names
        let waiting = (1...4).map { number in
            Task { try await names.addresses(of: "\(number).example", within: .seconds(3600), for: "keys") }
        }
        while dead.asked.load(ordering: .sequentiallyConsistent) < 4 { try await Task.sleep(for: .milliseconds(1)) }
        await #expect(throws: NameServiceError.busy) {
            try await names.addresses(of: "fifth.example", within: .seconds(60), for: "keys")
        }
        await #expect(throws: NameServiceError.timedOut) {
            try await names.addresses(of: "mail.example", within: .milliseconds(10), for: "delivery")
        }
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
    }

    @Test("a cancelled caller does not wait for the lookup")
    func cancelled() async throws {
        let dead = Dead()
        defer { dead.release() }
        let names = dead.names
        let waiting = Task { try await names.addresses(of: "example", within: .seconds(3600)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("an answered lookup makes room for the next")
    func room() async throws {
        let names = NameService(mostAtOnce: 2) { _ in [IPAddress("192.0.2.1")].compactMap(\.self) }
        for _ in 1...20 {
            #expect(try await names.addresses(of: "example", within: .seconds(60)).count == 1)
        }
    }
}
