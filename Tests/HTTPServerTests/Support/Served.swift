import HTTP
import Logging

@testable import HTTPServer

/// A server of `Echo` on its own port.
struct Served {
    let echo: Echo
    let loops: EventLoops
    let server: WebServer
    let port: Int
    let log: KeptLog

    /// Runs `body` beside a server and stops the server afterwards.
    static func run(
        loops count: Int = 2, limits: ServerLimits = ServerLimits(), heldOfEach: Int? = nil, tls: TLSSettings? = nil,
        _ body: (Served) async throws -> Void
    ) async throws {
        let (echo, log) = (Echo(), KeptLog())
        let loops =
            if let heldOfEach { try EventLoops(count: count, heldOfEach: heldOfEach) } else {
                try EventLoops(count: count)
            }
        let server = WebServer(on: loops, handler: echo, limits: limits, tls: tls, logger: log.logger)
        let port = try server.start(host: "127.0.0.1", port: 0)
        do {
            try await body(Served(echo: echo, loops: loops, server: server, port: port, log: log))
        } catch {
            await loops.shutdown()
            throw error
        }
        echo.gate.open()
        await server.drain(grace: .zero)
        await loops.shutdown()
    }

    func dial() throws -> Wire { try Wire(port: port) }

    /// Everything that a new connection receives for `text` until the server closes it.
    func answers(to text: String) throws -> String {
        let wire = try dial()
        try wire.send(text)
        wire.endSending()
        return String(decoding: wire.readToEnd(), as: UTF8.self)
    }
}

extension Served {
    /// Waits until `condition` holds, for at most a minute.
    static func eventually(_ condition: () throws -> Bool) async rethrows -> Bool {
        for _ in 0..<6000 {
            if try condition() { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}
