import Foundation
import Synchronization
import Testing

@testable import HTTPServer

/// More connections than the limit allows. `Tests/Interop/test_sockets.py` shows that a process without file
/// descriptors goes on.
@Suite struct ConnectionLimitTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("Connections over the limit wait, are served when others end, and cause one log line in all")
    func connections() async throws {
        var limits = ServerLimits()
        limits.maxConnections = 4
        try await Served.run(limits: limits) { served in
            let wires = try (0..<12).map { _ in try served.dial() }
            for wire in wires { try wire.send(Self.get) }
            #expect(await Served.eventually { served.echo.requests.count >= 4 })
            for wire in wires {
                #expect(try wire.answer().status == 200)
                wire.close()
            }
            #expect(served.log.messages.filter { $0.contains("connection limit reached") }.count == 1)
        }
    }

    @Test(
        "A client that keeps all allowed connections busy does not keep other clients from being served",
        arguments: [1, 3])
    func greedy(addresses: UInt32) async throws {
        var limits = ServerLimits()
        limits.maxConnections = 48
        try await Served.run(limits: limits) { served in
            let (end, port) = (End(), served.port)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<48 {
                    group.addTask {
                        while !end.hasCome {
                            let source = 2 + UInt32(number) % addresses
                            guard let wire = try? Wire(port: port, source: source) else { continue }
                            while !end.hasCome, (try? wire.send(Self.get)) != nil,
                                (try? wire.answer()) != nil
                            {
                                try? await Task.sleep(for: .milliseconds(300))
                            }
                            wire.close()
                        }
                    }
                }
                #expect(await Served.eventually { served.echo.requests.count > 96 })
                for _ in 0..<3 {
                    let newcomer = try served.dial()
                    try newcomer.send("GET /new HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try newcomer.answer().status == 200)
                    newcomer.close()
                }
                end.come()
                try await group.waitForAll()
            }
        }
    }

    @Test(
        "At the connection limit, idle connections are closed for new ones, and those in use are not",
        arguments: [true, false])
    func unused(hasAsked: Bool) async throws {
        var limits = ServerLimits()
        limits.maxConnections = 4
        try await Served.run(limits: limits) { served in
            let working = try served.dial()
            try working.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            let unused = try (0..<3).map { _ in try served.dial() }
            for wire in unused where hasAsked {
                try wire.send(Self.get)
                #expect(try wire.answer().status == 200)
            }
            #expect(await Served.eventually { served.echo.requests.count == (hasAsked ? 4 : 1) })
            for _ in 0..<3 {
                let newcomer = try served.dial()
                try newcomer.send(Self.get)
                #expect(try newcomer.answer().status == 200)
            }
            served.echo.gate.open()
            #expect(try working.answer().status == 200)
        }
    }

    @Test("An IPv6 site has too many connections with over half of all, a single address with fewer")
    func site() throws {
        let others = (1...20).map { Network("192.0.2.\($0)") } + [Network("2001:db8:7::1"), nil]
        let ours = (0..<64).map { Network("2001:db8:1:\(String($0, radix: 16))::1") }
        let crowd = Crowd(of: ours + others)
        #expect(ours.compactMap(\.self).allSatisfy(crowd.contains))
        #expect(!others.compactMap(\.self).contains(where: crowd.contains))
        // Half of all connections is no crowd: many subscribers of a provider may be one site.
        let half = Crowd(of: ours.prefix(20) + others)
        #expect(!ours.compactMap(\.self).contains(where: half.contains))
        let one = Crowd(of: [Network?](repeating: Network("192.0.2.99"), count: 10) + others)
        #expect(one.contains(try #require(Network("192.0.2.99"))))
    }

    @Test("An IPv4 client that comes through NAT64 counts as its own IPv4 address")
    func translated() {
        #expect(Network("64:ff9b::cb00:7107") == Network("203.0.113.7"))
        #expect(Network("64:ff9b::cb00:7107") != Network("64:ff9b::cb00:7108"))
        #expect(Network("64:ff9b:0:1::cb00:7107") != Network("203.0.113.7"))
    }

    private static let closed = Frame.preface + Frame(.settings, [0, 4] + Frame.number(0)).bytes
    private static let open = Frame.preface + Frame(.settings).bytes

    /// Room for `count` connections, and no other limit for unread answers.
    private static func limits(_ count: Int) -> ServerLimits {
        var limits = ServerLimits()
        limits.maxConnections = count
        limits.answerTimeout = .seconds(3_600)
        limits.idleTimeout = .seconds(3_600)
        return limits
    }

    @Test(
        "At the connection limit, connections with unread answers are closed for new ones, slow readers not",
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

    /// Reads 4,000,000 bytes in four seconds or more. On its own thread: other tests may hold those of the pool for
    /// longer than the server waits for a reader.
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

    @Test("At the connection limit, connections that read answers byte by byte are closed for new ones")
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

    @Test(
        "At the connection limit, HTTP/1.1 connections with unread answers are closed for new ones",
        arguments: ["/large", "/stream?5000"])
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

/// Tells tasks that they are done.
private final class End: Sendable {
    private let flag = Atomic(false)

    var hasCome: Bool { flag.load(ordering: .relaxed) }
    func come() { flag.store(true, ordering: .relaxed) }
}
