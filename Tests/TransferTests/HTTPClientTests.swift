import Foundation
import Testing
import Transfer
import Values

@Suite("The HTTP client") struct HTTPClientTests {
    private let client = Requests.client()

    @Test("An HTTP request goes out as it was given, with Host and Content-Length and nothing else")
    func request() async throws {
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        let fields = [(name: "X-Empty", value: ""), (name: "accept", value: "a/b"), (name: "X-Twice", value: "1")]
        _ = try await client.send(
            Requests.request(
                server.url + "a/../%2e/b?c=%41", "REPORT", fields: fields + [("X-Twice", "2")], body: Array("x=1".utf8))
        )
        let request = try #require(server.requests.first)
        #expect(
            request.head == [
                "REPORT /a/../%2e/b?c=%41 HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "X-Empty:", "accept: a/b",
                "X-Twice: 1", "X-Twice: 2", "Content-Length: 3",
            ])
        #expect(request.body == "x=1")
    }

    @Test(
        "An empty body has a length where its method may have one",
        arguments: [("POST", true), ("PUT", true), ("PATCH", true), ("GET", false), ("DELETE", false), ("HEAD", false)])
    func emptyBody(_ method: String, _ hasLength: Bool) async throws {
        let server = try ScriptedServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(try await client.send(Requests.request(server.url, method)).status == 200)
        let head = try #require(server.requests.first?.head)
        #expect(head.first == "\(method) / HTTP/1.1")
        #expect(head.contains("Content-Length: 0") == hasLength)
    }

    @Test("An answer has status, fields and body; interim answers and trailers are left out")
    func answer() async throws {
        let server = try ScriptedServer(
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 Nobody\r\nX-A:  b \r\nx-a: c:d\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Late: 1\r\n\r\n")
        let response = try await client.send(Requests.request(server.url))
        #expect(response.status == 404)
        #expect(response.fields.map(\.name) == ["X-A", "x-a", "Transfer-Encoding"])
        #expect(response.values(of: "X-a") == ["b", "c:d"])
        #expect(response.body == Array("abcde".utf8))
    }

    @Test("A compressed body is not decoded, and none is asked for")
    func compressed() async throws {
        let server = try ScriptedServer(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\u{1F}\u{0B}x")
        let response = try await client.send(Requests.request(server.url))
        #expect(response.body == [0x1F, 0x0B, 0x78])
        #expect(server.requests.first?.head.contains { $0.lowercased().hasPrefix("accept-encoding") } == false)
    }

    @Test("The HTTP client follows no redirect", arguments: [301, 302, 303, 307, 308])
    func redirect(_ status: Int) async throws {
        let other = try ScriptedServer("HTTP/1.1 200 OK\r\n\r\n")
        let server = try ScriptedServer(
            "HTTP/1.1 \(status) Found\r\nLocation: \(other.url)\r\nContent-Length: 0\r\n\r\n")
        #expect(try await client.send(Requests.request(server.url)).status == status)
        #expect(other.requests.isEmpty)
    }

    @Test("The HTTP client keeps no cookies")
    func cookie() async throws {
        let server = try ScriptedServer("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n")
        for _ in 1...2 { _ = try await client.send(Requests.request(server.url)) }
        #expect(server.requests.count == 2)
        #expect(!server.requests.contains { $0.head.contains { $0.lowercased().hasPrefix("cookie") } })
    }

    @Test(
        "A value that would end a request line or a field is refused before anything is sent",
        arguments: [
            ("GET / HTTP/1.1\r\nX: y", "A", "b"), ("", "A", "b"), ("GE T", "A", "b"), ("GET", "A\r\nB", "b"),
            ("GET", "A:", "b"), ("GET", "", "b"), ("GET", "A", "b\r\nC: d"), ("GET", "A", "b\nC: d"),
            ("GET", "A", "b\rC: d"), ("GET", "A", "b\u{0}"), ("GET", "A", "\u{7F}"),
        ])
    func injection(_ method: String, _ name: String, _ value: String) async throws {
        let server = try ScriptedServer("HTTP/1.1 200 OK\r\n\r\n")
        await #expect(throws: TransferError.unacceptable) {
            try await client.send(Requests.request(server.url, method, fields: [(name, value)]))
        }
        #expect(server.connections == 0)
    }

    @Test(
        "An incomplete HTTP answer is a failure",
        arguments: [
            "", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
        ])
    func broken(_ answer: String) async throws {
        let server = try ScriptedServer(answer)
        await #expect(throws: TransferError.self) { try await client.send(Requests.request(server.url)) }
    }

    @Test("Connections are kept only where that is requested", arguments: [(true, 1), (false, 5)])
    func reuse(keepsConnections: Bool, connections: Int) async throws {
        let server = try ScriptedServer(keepsConnections: true) { _ in "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
        let client = Requests.client(keepsConnections: keepsConnections)
        for _ in 1...5 { #expect(try await client.send(Requests.request(server.url)).status == 200) }
        #expect(server.connections == connections)
    }
}
