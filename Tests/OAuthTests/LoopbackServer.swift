import Synchronization
import TestSupport

/// A web server on 127.0.0.1 that gives every request the same response, and closes.
final class LoopbackServer: Sendable {
    private final class Script: Sendable {
        let state: Mutex<State>
        init(_ answer: String) { state = Mutex(State(answer: Array(answer.utf8))) }
    }

    private struct State {
        var answer: [UInt8]
        var requests: [String] = []
        var hangsUp = true
    }

    private let listener: LocalListener
    private let script: Script

    init(_ answer: String = "") throws {
        let script = Script(answer)
        self.script = script
        listener = try LocalListener(serving: { connection in
            guard let head = connection.head() else { return }
            let (answer, hangsUp) = script.state.withLock {
                $0.requests.append(head.map { $0 + "\r\n" }.joined())
                return ($0.answer, $0.hangsUp)
            }
            connection.send(answer)
            if !hangsUp { connection.waitForEnd() }
        })
    }

    /// Stops accepting connections.
    func stop() { listener.stop() }

    var port: UInt16 { listener.port }
    var address: String { "http://127.0.0.1:\(port)/keys" }
    var requests: [String] { script.state.withLock(\.requests) }

    /// Answers with `body` from now on. Without `hangsUp`, leaves the connection open after it.
    func answer(_ body: String, status: String = "200 OK", headers: [String] = [], hangsUp: Bool = true) {
        let head = ["HTTP/1.1 \(status)", "Connection: close"] + headers
        script.state.withLock {
            $0.answer = Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
            $0.hangsUp = hangsUp
        }
    }
}
