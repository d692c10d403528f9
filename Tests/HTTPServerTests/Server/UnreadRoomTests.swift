import Foundation
import HTTPServer
import Testing

/// Clients that hold connections by answers that they do not read, where as many are open as may be. `/large` is
/// answered with 4,000,000 bytes.
@Suite("Room for new connections") struct UnreadRoomTests {
    private static let closed = Frame.preface + Frame(.settings, [0, 4] + Frame.number(0)).bytes
    private static let open = Frame.preface + Frame(.settings).bytes

    /// Places for `count` connections, and no other end for answers that are not read.
    private static func limits(_ count: Int) -> ServerLimits {
        var limits = ServerLimits()
        limits.maxConnections = count
        limits.answerTimeout = .seconds(3_600)
        limits.idleTimeout = .seconds(3_600)
        return limits
    }

    @Test(
        "Connections whose answers stay unread are closed for new ones; one that reads slowly stays",
        arguments: [1, 12])
    func unread(addresses: UInt32) async throws {
        let certificate = try TestCertificate()
        try await Served.run(limits: Self.limits(48), tls: certificate.settings) { served in
            let port = served.port
            async let read = Self.readSlowly(port)
            #expect(await Served.eventually { served.echo.requests.count == 1 })
            var greedy: [TLSClient] = []
            for number in 0..<UInt32(47) {
                let client = try TLSClient(port: port, protocols: ["h2"], source: 2 + number % addresses)
                client.send(Self.closed + HTTP2Client.head(1).bytes)
                greedy.append(client)
            }
            #expect(await Served.eventually { served.echo.requests.count == 48 })
            for _ in 0..<3 {
                let newcomer = try TLSClient(port: port, protocols: ["http/1.1"])
                #expect(newcomer.ask(TLSServerTests.request)?.status == 200)
            }
            #expect(try await read == 4_000_000)
            withExtendedLifetime(greedy) {}
        }
    }

    /// Reads 4,000,000 bytes in four seconds and more. On a thread of its own: those of the pool may be held by other
    /// tests for longer than the server waits for a reader.
    private static func readSlowly(_ port: Int) async throws -> Int {
        try await withCheckedThrowingContinuation { caller in
            Thread.detachNewThread { caller.resume(with: Result { try countSlowly(port) }) }
        }
    }

    private static func countSlowly(_ port: Int) throws -> Int {
        let client = try TLSClient(port: port, protocols: ["h2"], source: 100)
        client.send(Self.open + HTTP2Client.head(1, "GET", "/large").bytes)
        var count = 0
        while count < 4_000_000 {
            let frames = client.frames()
            guard !frames.isEmpty else { break }
            count += frames.filter { $0.kind == 0 }.map(\.payload.count).reduce(0, +)
            Thread.sleep(forTimeInterval: 0.02)
        }
        return count
    }

    @Test("Connections that let their answers out byte by byte are closed for new ones")
    func trickling() async throws {
        let certificate = try TestCertificate()
        try await Served.run(limits: Self.limits(24), tls: certificate.settings) { served in
            var greedy: [TLSClient] = []
            for number in 0..<UInt32(24) {
                let client = try TLSClient(port: served.port, protocols: ["h2"], source: 2 + number)
                client.send(Self.closed + HTTP2Client.head(1).bytes)
                greedy.append(client)
            }
            #expect(await Served.eventually { served.echo.requests.count == 24 })
            let clients = greedy
            let trickle = Task {
                while !Task.isCancelled {
                    for client in clients { client.send(Frame(.windowUpdate, stream: 1, Frame.number(1)).bytes) }
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            let newcomer = try TLSClient(port: served.port, protocols: ["http/1.1"])
            #expect(newcomer.ask(TLSServerTests.request)?.status == 200)
            trickle.cancel()
        }
    }

    @Test("Plain connections whose answers stay unread are closed for new ones", arguments: ["/large", "/stream?5000"])
    func plain(target: String) async throws {
        try await Served.run(loops: 1, limits: Self.limits(8), heldOfEach: 100_000_000) { served in
            let greedy = try (0..<8).map { _ in try Wire(port: served.port, receiveBuffer: 4096) }
            for wire in greedy { try wire.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") }
            #expect(await Served.eventually { served.echo.requests.count == 8 })
            let newcomer = try served.dial()
            try newcomer.send("GET /new HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try newcomer.answer().status == 200)
            withExtendedLifetime(greedy) {}
        }
    }
}
