import Foundation
import Testing
import Transfer
import Values

@Suite("The HTTP client") struct HTTPClientTests {
    private let client = Requests.client()

    @Test("The HTTP client sends a request as given, and adds Host and Content-Length and nothing else")
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
        "The HTTP client sends Content-Length 0 with an empty body if the method usually has one",
        arguments: [("POST", true), ("PUT", true), ("PATCH", true), ("GET", false), ("DELETE", false), ("HEAD", false)])
    func emptyBody(_ method: String, _ hasLength: Bool) async throws {
        let server = try ScriptedServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(try await client.send(Requests.request(server.url, method)).status == 200)
        let head = try #require(server.requests.first?.head)
        #expect(head.first == "\(method) / HTTP/1.1")
        #expect(head.contains("Content-Length: 0") == hasLength)
    }

    @Test("The HTTP client returns an answer's status, fields and body, without interim answers and trailers")
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

    @Test("The HTTP client asks for no compressed answer, and does not decode one")
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
        "The HTTP client refuses a method, field name or value that would end its line, and sends nothing",
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
        "An incomplete or malformed answer fails the HTTP client's request",
        arguments: [
            "", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
        ])
    func broken(_ answer: String) async throws {
        let server = try ScriptedServer(answer)
        await #expect(throws: TransferError.self) { try await client.send(Requests.request(server.url)) }
    }

    @Test(
        "The HTTP client keeps connections for later requests only if it is told to",
        arguments: [(true, 1), (false, 5)])
    func reuse(keepsConnections: Bool, connections: Int) async throws {
        let server = try ScriptedServer(keepsConnections: true) { _ in "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
        let client = Requests.client(keepsConnections: keepsConnections)
        for _ in 1...5 { #expect(try await client.send(Requests.request(server.url)).status == 200) }
        #expect(server.connections == connections)
    }

    @Test(
        "The HTTP client refuses an answer's body over its limit, whether its length is announced or not",
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

    @Test("The HTTP client refuses an answer's body that is announced as too long before it arrives")
    func announced() async throws {
        let server = try ScriptedServer(keepsConnections: true) { _ in
            "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"
        }
        await #expect(throws: TransferError.bodyTooLong) {
            try await client.send(Requests.request(server.url, longestBody: 1000))
        }
    }

    @Test("The HTTP client gives up an answer without length once its body exceeds the limit")
    func endless() async throws {
        let server = try ScriptedServer(
            "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 5_000_000))
        await #expect(throws: TransferError.bodyTooLong) {
            try await client.send(Requests.request(server.url, longestBody: 100_000))
        }
    }

    @Test("A chunk extension in an answer counts towards the HTTP client's limit of the body")
    func framing() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"
        let server = try ScriptedServer(head + String(repeating: "e", count: 30_000_000))
        await #expect(throws: TransferError.bodyTooLong) {
            try await client.send(Requests.request(server.url, longestBody: 1000))
        }
    }

    @Test(
        "The HTTP client's limit of an answer's head includes fields of interim answers and trailers",
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
        "The HTTP client gives up a request whose answer does not end in time",
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

    @Test("The HTTP client gives up connecting after the time for that, before the total time is over")
    func connecting() async throws {
        // It listens and speaks no TLS: the handshake never ends.
        let server = try ScriptedServer { _ in nil }
        await #expect(throws: TransferError.connectTimedOut) {
            try await client.send(
                Requests.request("https://127.0.0.1:\(server.port)/", connecting: .milliseconds(100)))
        }
    }

    @Test(
        "The HTTP client connects to the given IP address without looking up the host, and sends its name",
        arguments: ["nobody.invalid", "localhost", "127.1", "2130706433", "10.0.0.1", "[::1]", "[2001:db8::1]"])
    func name(_ host: String) async throws {
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        let url = "http://\(host):\(server.port)/"
        #expect(try await client.send(Requests.request(url)).status == 204)
        #expect(server.requests.first?.head.contains("Host: \(host):\(server.port)") == true)
    }

    @Test("The HTTP client does not reuse a connection to one IP address of a host for another address")
    func addresses() async throws {
        let server = try ScriptedServer(keepsConnections: true) { _ in
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        }
        let client = Requests.client(keepsConnections: true)
        let url = "http://host.invalid:\(server.port)/"
        for _ in 1...3 {
            #expect(try await client.send(Requests.request(url)).status == 200)
            await #expect(throws: TransferError.self) {
                try await client.send(Requests.request(url, at: IPAddress("127.0.0.2")))
            }
        }
        // Kept for its own address, and so not missing for the other by chance.
        #expect(server.connections == 1)
    }

    @Test("The HTTP client refuses a forbidden IP address when it connects, whatever was checked before")
    func refused() async throws {
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        let client = Requests.client { $0 != Requests.loopback }
        await #expect(throws: TransferError.refusedAddress) {
            try await client.send(Requests.request("http://host.invalid:\(server.port)/"))
        }
        #expect(server.connections == 0)
    }

    @Test("The HTTP client uses no proxy of the environment")
    func proxy() async throws {
        let proxy = try ScriptedServer("HTTP/1.1 500 Proxy\r\n\r\n")
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        // Set once and never unset, so that no memory is freed that another thread may be reading.
        setenv("http_proxy", proxy.url, 1)
        #expect(try await client.send(Requests.request(server.url)).status == 204)
        #expect(proxy.connections == 0)
    }

    @Test("A refused connection fails the HTTP client's request")
    func nobody() async throws {
        let server = try ScriptedServer("")
        let url = server.url
        server.stop()
        await #expect(throws: TransferError.self) { try await client.send(Requests.request(url)) }
    }

    @Test("The HTTP client sends no https request to a server that does not speak TLS")
    func noTLS() async throws {
        let server = try ScriptedServer("HTTP/1.1 200 OK\r\n\r\n")
        await #expect(throws: TransferError.self) {
            try await client.send(Requests.request("https://127.0.0.1:\(server.port)/", time: .milliseconds(200)))
        }
        #expect(server.requests.isEmpty)
    }

    @Test(
        "The HTTP client reads a URL's host and port as they are written, or takes the scheme's usual port",
        arguments: [
            ("https://example.com", "example.com", 443), ("http://example.com/a?b=c", "example.com", 80),
            ("HTTPS://Example.COM:8443/", "Example.COM", 8443), ("https://a_b.example./", "a_b.example.", 443),
            ("https://[2001:db8::1]:444/", "2001:db8::1", 444), ("https://127.0.0.1/", "127.0.0.1", 443),
            ("https://127.1/", "127.1", 443), ("https://2130706433/", "2130706433", 443),
            ("https://0x7f.1?x", "0x7f.1", 443),
        ])
    func good(_ text: String, _ host: String, _ port: Int) throws {
        let url = try #require(TransferURL(text))
        #expect((url.host, url.port) == (host, port))
    }

    @Test(
        "The HTTP client refuses a URL that is ambiguous or is not an absolute http or https URL",
        arguments: [
            "", "/", "example.com", "example.com:80/", "//example.com/", "ftp://example.com/", "file:///etc/passwd",
            "https:///keys", "https:/example.com", "https:example.com", "https://user@example.com/",
            "https://user:secret@example.com/", "https://@example.com/", "https://example.com/#part",
            "https://example.com:/", "https://example.com:0443/", "https://example.com:65536/",
            "https://example.com:x/", "https://ex\\@127.0.0.1/", "https://exam%70le.com/", "https://%31/",
            "https://bücher.example/", "https://127。0。0。1/", "https://a b/", "https://a/\r\n", "https://a/\u{0}",
            "https://[::1", "https://[::1]x/", "https://[::1%25lo]/", "https://[v1.a]/", "https://a,b/", "https://*/",
            "https://" + String(repeating: "a", count: 254) + "/",
        ])
    func bad(_ text: String) { #expect(TransferURL(text) == nil) }
}

@Suite("Concurrent requests", .serialized) struct HTTPClientConcurrencyTests {
    @Test("A hundred requests of the HTTP client wait at once without a thread for each")
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

    @Test("A cancelled request of the HTTP client frees its place; one cancelled while it waits takes none")
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

    @Test("The HTTP client gives each of many requests over few connections its own answer")
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

    @Test("A released HTTP client ends its thread", .timeLimit(.minutes(1)))
    func end() async throws {
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        for _ in 1...200 {
            #expect(try await Requests.client().send(Requests.request(server.url)).status == 204)
        }
        // Each client had its own thread; other tests have few.
        while try Self.threads("spindle-http").count > 100 { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// The threads of this process with this prefix; the system keeps 15 letters of a name.
    private static func threads(_ name: String) throws -> [String] {
        let folder = "/proc/self/task"
        // The list cannot be read while a thread of another test ends.
        var numbers: [String]?
        for _ in 0..<1000 where numbers == nil {
            numbers = try? FileManager.default.contentsOfDirectory(atPath: folder)
        }
        return try #require(numbers).filter { number in
            (try? String(contentsOfFile: "\(folder)/\(number)/comm", encoding: .utf8))?.hasPrefix(name) == true
        }
    }
}
