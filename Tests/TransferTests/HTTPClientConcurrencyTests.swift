import Foundation
import Testing
import Transfer
import Values

@Suite("Concurrent requests", .serialized) struct HTTPClientConcurrencyTests {
    @Test("A hundred requests wait at once on one thread")
    func hundred() async throws {
        let client = Requests.client()
        let server = try ScriptedServer { _ in nil }
        let requests = try (1...100).map { try Requests.request(server.url + "\($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for request in requests {
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await client.send(request) }
                }
            }
            await server.isAsked(100)
            #expect(server.connections == 100)
            try #expect((1..<100).contains(Self.threads("spindle-http").count))
            group.cancelAll()
        }
    }

    @Test("A cancelled request frees its place, and one cancelled before it began never takes it")
    func cancellation() async throws {
        let client = Requests.client(mostConnectionsToHost: 1)
        let server = try ScriptedServer { head in
            head.first?.contains("/hang") == true ? nil : "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
        }
        let hanging = try Requests.request(server.url + "hang")
        let first = Task { try await client.send(hanging) }
        await server.isAsked()
        let second = Task { try await client.send(hanging) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        let third = Task { try await client.send(Requests.request(server.url)) }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await third.value.status == 204)
        #expect(server.requests.count == 2)
    }

    @Test("Many requests over few connections get each its own answer")
    func sharing() async throws {
        let client = Requests.client(keepsConnections: true, mostConnectionsToHost: 8)
        let server = try ScriptedServer(keepsConnections: true) { head in
            let path = head.first?.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            return "HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)"
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for runner in 1...32 {
                group.addTask {
                    for number in 1...20 {
                        let path = "/\(runner)/\(number)"
                        let url = "http://127.0.0.1:\(server.port)\(path)"
                        let response = try await client.send(Requests.request(url))
                        #expect(response.body == Array(path.utf8))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.connections <= 8)
        #expect(server.requests.count == 640)
    }

    @Test("A released HTTP client ends its thread")
    func end() async throws {
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        for _ in 1...200 {
            #expect(try await Requests.client().send(Requests.request(server.url)).status == 204)
        }
        // Each client had a thread of its own; those of other tests are few.
        while try Self.threads("spindle-http").count > 100 { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// The threads of this process whose name begins so; the system keeps 15 letters of it.
    private static func threads(_ name: String) throws -> [String] {
        let folder = "/proc/self/task"
        // It cannot be listed while a thread of another test goes.
        var numbers: [String]?
        for _ in 0..<1000 where numbers == nil {
            numbers = try? FileManager.default.contentsOfDirectory(atPath: folder)
        }
        return try #require(numbers).filter { number in
            (try? String(contentsOfFile: "\(folder)/\(number)/comm", encoding: .utf8))?.hasPrefix(name) == true
        }
    }
}
