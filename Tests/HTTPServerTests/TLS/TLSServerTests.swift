import COpenSSL
import HTTP
import HTTPServer
import Testing

@Suite("TLS: a server") struct TLSServerTests {
    private let certificate: TestCertificate

    init() throws { certificate = try TestCertificate("old.example") }

    static let request = "GET /a HTTP/1.1\r\nHost: id.example\r\n\r\n"

    @Test("One TLS port serves HTTP/1.1 and HTTP/2")
    func protocols() async throws {
        try await Served.run(tls: certificate.settings) { served in
            let old = try TLSClient(port: served.port, protocols: ["http/1.1"])
            #expect(old.agreed == "http/1.1")
            #expect(old.ask(Self.request)?.body == "GET /a ")
            #expect(old.ask(Self.request)?.body == "GET /a ")
            let new = try TLSClient(port: served.port, protocols: ["h2", "http/1.1"])
            #expect(new.agreed == "h2")
            new.greet()
            new.send(HTTP2Client.head(1).bytes)
            let answer = try #require(new.answers(to: [1])[1])
            #expect(answer.status == "200")
            #expect(answer.body == Array("GET /a ".utf8))
        }
    }

    @Test("A hundred HTTP/2 streams at once get a correct answer each")
    func streams() async throws {
        try await Served.run(tls: certificate.settings) { served in
            let client = try TLSClient(port: served.port, protocols: ["h2"])
            client.greet()
            let streams = (0..<100).map { Int32($0 * 2 + 1) }
            client.send(streams.flatMap { HTTP2Client.head($0, "GET", "/\($0)").bytes })
            let answers = client.answers(to: streams)
            for stream in streams { #expect(answers[stream]?.body == Array("GET /\(stream) ".utf8)) }
        }
    }

    @Test("Large and streamed answers arrive whole on one HTTP/2 connection, beside one that breaks off")
    func large() async throws {
        try await Served.run(tls: certificate.settings) { served in
            let client = try TLSClient(port: served.port, protocols: ["h2"])
            client.greet()
            client.send(HTTP2Client.head(1, "GET", "/large").bytes + HTTP2Client.head(3, "GET", "/stream?2000").bytes)
            client.send(HTTP2Client.head(5, "GET", "/stream?2broken").bytes)
            let answers = client.answers(to: [1, 3, 5])
            #expect(answers[1]?.body.count == 4_000_000)
            #expect(answers[3]?.body == [UInt8](repeating: 0x62, count: 2_000_000))
            #expect(answers[5]?.body.count ?? 0 <= 2_000)
        }
    }

    @Test("A replaced TLS certificate is used for new connections; an unusable one changes nothing")
    func exchange() async throws {
        try await Served.run(tls: certificate.settings) { served in
            let before = try TLSClient(port: served.port, protocols: ["http/1.1"])
            #expect(before.serverName == "old.example")
            let next = try TestCertificate("new.example")
            try served.server.exchange(tls: next.settings)
            let after = try TLSClient(port: served.port, protocols: ["http/1.1"])
            #expect(after.serverName == "new.example")
            #expect(before.ask(Self.request)?.status == 200)
            #expect(throws: TLSError.self) {
                try served.server.exchange(tls: TLSSettings(certificate: next.certificate, key: certificate.key))
            }
            #expect(try TLSClient(port: served.port, protocols: ["http/1.1"]).serverName == "new.example")
        }
    }

    @Test("An unfinished TLS handshake is cut off at its deadline, and delays no other connection")
    func silence() async throws {
        var limits = ServerLimits()
        limits.requestTimeout = .milliseconds(500)
        try await Served.run(limits: limits, tls: certificate.settings) { served in
            let silent = try (0..<50).map { _ in try served.dial() }
            for wire in silent.prefix(25) { try wire.send([0x16, 3, 1, 2, 0, 1, 0]) }
            let client = try TLSClient(port: served.port, protocols: ["http/1.1"])
            #expect(client.ask(Self.request)?.status == 200)
            for wire in silent { #expect(wire.readToEnd().isEmpty) }
        }
    }

    @Test("At the limit of TLS handshakes an old unfinished one is closed for a new one, not an open connection")
    func handshakes() async throws {
        var limits = ServerLimits()
        limits.maxConnections = 128
        try await Served.run(limits: limits, tls: certificate.settings) { served in
            let unused = try TLSClient(port: served.port, protocols: ["http/1.1"])
            #expect(unused.ask(Self.request)?.status == 200)
            let stalled = try (0..<64).map { _ in try served.dial() }
            for _ in 0..<4 {
                let newcomer = try TLSClient(port: served.port, protocols: ["http/1.1"])
                #expect(newcomer.ask(Self.request)?.status == 200)
                newcomer.close()
            }
            #expect(unused.ask(Self.request)?.status == 200)
            for wire in stalled { wire.close() }
        }
    }

    @Test("A request without TLS on the TLS port is told in plain text that the port speaks https")
    func plain() async throws {
        try await Served.run(tls: certificate.settings) { served in
            let answer = try served.answers(to: Self.request)
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(answer.contains("\r\nX-Request-Id: refused-1\r\n") && answer.contains("Connection: close\r\n"))
            #expect(answer.hasSuffix("This port speaks https: begin the address with https://\n"))
            #expect(served.echo.refusals.map(\.reason) == ["http_on_tls_port"] && served.echo.requests.isEmpty)
            #expect(throws: TLSClient.Refused.self) { try TLSClient(port: served.port, protocols: ["smtp"]) }
            #expect(try TLSClient(port: served.port, protocols: ["h2"]).agreed == "h2")
        }
    }

    @Test("A drain announces itself to HTTP/2 clients, finishes open requests, and ends with close_notify")
    func drain() async throws {
        try await Served.run(tls: certificate.settings) { served in
            let client = try TLSClient(port: served.port, protocols: ["h2"])
            client.greet()
            client.send(HTTP2Client.head(1, "GET", "/gate").bytes)
            #expect(await Served.eventually { served.echo.gate.waiting == 1 })
            async let drained: Void = served.server.drain(grace: .seconds(10))
            var frames: [Frame] = []
            while !frames.contains(where: { $0.kind == Frame.Kind.goAway.rawValue }) { frames += client.frames() }
            served.echo.gate.open()
            while true {
                let next = client.frames()
                guard !next.isEmpty else { break }
                frames += next
            }
            client.close()
            await drained
            #expect(frames.contains { $0.stream == 1 && $0.endsStream })
            #expect(frames.filter { $0.kind == Frame.Kind.goAway.rawValue }.map(\.number) == [0x7FFF_FFFF, 1])
            #expect(client.isEnded)
        }
    }

    @Test("The server does not start with a TLS key that belongs to another certificate")
    func wrongKey() async throws {
        let other = try TestCertificate()
        let settings = TLSSettings(certificate: certificate.certificate, key: other.key)
        let wrong = TLSError.wrongKey(file: other.key, certificate: certificate.certificate)
        await #expect(throws: wrong) { try await Served.run(tls: settings) { _ in } }
    }
}
