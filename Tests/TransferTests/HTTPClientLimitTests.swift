import Foundation
import Testing
import Transfer
import Values

@Suite("Limits of the HTTP client") struct HTTPClientLimitTests {
    private let client = Requests.client()

    @Test(
        "An answer's body is counted, whether its length is announced or not",
        arguments: ["Content-Length: 1001", "Connection: close", "Transfer-Encoding: chunked"])
    func body(_ framing: String) async throws {
        let text = String(repeating: "x", count: 1001)
        let body = framing.hasPrefix("T") ? "3E9\r\n\(text)\r\n0\r\n\r\n" : text
        let server = try ScriptedServer("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n\(body)")
        await #expect(throws: TransferError.bodyTooLong) {
            try await client.send(Requests.request(server.url, longestBody: 1000))
        }
        #expect(try await client.send(Requests.request(server.url, longestBody: 1001)).body.count == 1001)
    }

    @Test("An answer's body announced as too long is refused before it comes")
    func announced() async throws {
        let server = try ScriptedServer(keepsConnections: true) { _ in
            "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"
        }
        await #expect(throws: TransferError.bodyTooLong) {
            try await client.send(Requests.request(server.url, longestBody: 1000))
        }
    }

    @Test("An answer's body that never ends is cut off")
    func endless() async throws {
        let server = try ScriptedServer(
            "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 5_000_000))
        await #expect(throws: TransferError.bodyTooLong) {
            try await client.send(Requests.request(server.url, longestBody: 100_000))
        }
    }

    @Test("A chunk extension counts towards the limit of the body")
    func framing() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"
        let server = try ScriptedServer(head + String(repeating: "e", count: 30_000_000))
        await #expect(throws: TransferError.bodyTooLong) {
            try await client.send(Requests.request(server.url, longestBody: 1000))
        }
    }

    @Test(
        "An answer's fields are counted together, including those of interim answers and trailers",
        arguments: [0, 1, 2])
    func head(_ place: Int) async throws {
        let fields = (1...20).map { "X-\($0): \(String(repeating: "y", count: 100))\r\n" }.joined()
        let chunked = "Transfer-Encoding: chunked\r\n\r\n0\r\n"
        let answer =
            switch place {
            case 0: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(fields)\r\n"
            case 1: "HTTP/1.1 103 Hints\r\n\(fields)\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            default: "HTTP/1.1 200 OK\r\n\(chunked)\(fields)\r\n"
            }
        let server = try ScriptedServer(answer)
        await #expect(throws: TransferError.headTooLong) {
            try await client.send(Requests.request(server.url, longestHead: 2000))
        }
        #expect(try await client.send(Requests.request(server.url, longestHead: 4000)).status == 200)
    }

    @Test(
        "An answer to the HTTP client that does not end is given up",
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"])
    func time(_ start: String) async throws {
        let server = try ScriptedServer(keepsConnections: true) { _ in start }
        // The server never ends it: only giving up can end this test.
        await #expect(throws: TransferError.timedOut) {
            try await client.send(Requests.request(server.url, time: .milliseconds(100)))
        }
        await #expect(throws: TransferError.timedOut) {
            try await client.send(Requests.request(server.url, time: .zero))
        }
    }

    @Test("An attempt to connect is given up before the total time is over")
    func connecting() async throws {
        // It listens and speaks no TLS: the handshake never ends.
        let server = try ScriptedServer { _ in nil }
        await #expect(throws: TransferError.connectTimedOut) {
            try await client.send(
                Requests.request("https://127.0.0.1:\(server.port)/", connecting: .milliseconds(100)))
        }
    }
}
