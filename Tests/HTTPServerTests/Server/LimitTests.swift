import HTTPServer
import Synchronization
import Testing

/// More connections than may be. That a process without descriptors goes on is shown from outside:
/// `Tests/Interop/test_sockets.py`.
@Suite struct LimitTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("Connections over the limit wait, are served when others end, and one log line reports it")
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
            #expect(served.log.messages.filter { $0.contains("as many connections as may be") }.count == 1)
        }
    }

    @Test(
        "A client that keeps all connections busy does not shut others out",
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

    @Test("Idle connections are closed for new ones, and those in use are not", arguments: [true, false])
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
}

/// Tells tasks that they are done.
private final class End: Sendable {
    private let flag = Atomic(false)

    var hasCome: Bool { flag.load(ordering: .relaxed) }
    func come() { flag.store(true, ordering: .relaxed) }
}
