import Dispatch
import Synchronization
import Testing
import Values

@testable import Transfer

@Suite("Name resolution") struct NameServiceTests {
    @Test("Name resolution gives the IP addresses of a host name, and none for an unknown name")
    func addresses() async throws {
        let names = NameService()
        let found = try await names.addresses(of: "localhost", within: .seconds(60))
        #expect(found.contains { $0.description == "127.0.0.1" || $0.description == "::1" })
        // An old spelling, which the system knows.
        #expect(try await names.addresses(of: "127.1", within: .seconds(60)).map(\.description) == ["127.0.0.1"])
        #expect(try await names.addresses(of: "nobody.invalid", within: .seconds(60)).isEmpty)
    }

    /// A name service that answers at once for `good.example`, and for other names only after `release`.
    private final class Dead: Sendable {
        let gate = DispatchSemaphore(value: 0)
        let asked = Atomic(0)
        var names: NameService {
            NameService(mostAtOnce: 64) { [self] name in
                asked.add(1, ordering: .sequentiallyConsistent)
                if name == "good.example" { return [IPAddress("192.0.2.1")].compactMap(\.self) }
                gate.wait()
                return []
            }
        }
        func release() { for _ in 1...256 { gate.signal() } }
    }

    @Test("A name lookup without an answer ends at its deadline, and does not delay HTTP requests")
    func dead() async throws {
        let dead = Dead()
        defer { dead.release() }
        let names = dead.names
        for _ in 1...3 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...8 {
                    group.addTask {
                        await #expect(throws: NameServiceError.timedOut) {
                            try await names.addresses(of: "dead.example", within: .milliseconds(50), for: "keys")
                        }
                    }
                }
            }
        }
        #expect(dead.asked.load(ordering: .sequentiallyConsistent) == 1, "they wait for one answer")
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(try await Requests.client().send(Requests.request(server.url)).status == 204)
    }

    @Test("A merchant's hanging name lookups take only that merchant's places")
    func requesters() async throws {
        let dead = Dead()
        defer { dead.release() }
        let names = dead.names
        for purpose in ["keys", "delivery"] {
            for number in 1...2 {
                await #expect(throws: NameServiceError.timedOut) {
                    try await names.addresses(
                        of: "\(purpose)\(number).example", within: .milliseconds(10), for: purpose, by: "a")
                }
            }
            // Given up by their caller, they hold their places: the resolver is at work.
            await #expect(throws: NameServiceError.busy) {
                try await names.addresses(of: "third.example", within: .seconds(60), for: purpose, by: "a")
            }
            let found = try await names.addresses(of: "good.example", within: .seconds(60), for: purpose, by: "b")
            #expect(found.count == 1)
        }
    }

    @Test("Name lookups that hang for one purpose leave room for lookups for other purposes")
    func purposes() async throws {
        let dead = Dead()
        defer { dead.release() }
        let names = dead.names
        let waiting = (1...32).map { number in
            Task {
                try await names.addresses(
                    of: "\(number).example", within: .seconds(3600), for: "keys", by: "\(number / 2)")
            }
        }
        while dead.asked.load(ordering: .sequentiallyConsistent) < 32 { try await Task.sleep(for: .milliseconds(1)) }
        await #expect(throws: NameServiceError.busy) {
            try await names.addresses(of: "one.more.example", within: .seconds(60), for: "keys", by: "other")
        }
        #expect(try await names.addresses(of: "good.example", within: .seconds(60), for: "delivery").count == 1)
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
    }

    @Test("A cancelled caller does not wait for its name lookup")
    func cancelled() async throws {
        let dead = Dead()
        defer { dead.release() }
        let names = dead.names
        let waiting = Task { try await names.addresses(of: "example", within: .seconds(3600)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("An answered name lookup makes room for the next")
    func room() async throws {
        let names = NameService(mostAtOnce: 2) { _ in [IPAddress("192.0.2.1")].compactMap(\.self) }
        for _ in 1...20 {
            #expect(try await names.addresses(of: "example", within: .seconds(60)).count == 1)
        }
    }
}
