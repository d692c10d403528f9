import Synchronization
import TestSupport

/// A web server on 127.0.0.1 that records requests and answers them by a script.
final class ScriptedServer: Sendable {
    /// The response to a request; nil for none until the client gives up.
    typealias Script = @Sendable (_ head: [String]) -> String?

    private final class Notes: Sendable {
        let state = Mutex((requests: [(head: [String], body: String)](), connections: 0))
    }

    private let listener: LocalListener
    private let notes: Notes
    private let asked: AsyncStream<Void>

    /// With `keepsConnections`, it answers any number of requests on one connection.
    init(keepsConnections: Bool = false, _ script: @escaping Script) throws {
        let notes = Notes()
        self.notes = notes
        let (asked, ask) = AsyncStream<Void>.makeStream()
        self.asked = asked
        listener = try LocalListener(serving: { connection in
            notes.state.withLock { $0.connections += 1 }
            while let head = connection.head(), let body = connection.body(after: head) {
                notes.state.withLock { $0.requests.append((head, body)) }
                ask.yield()
                guard let answer = script(head) else { return connection.waitForEnd() }
                connection.send(Array(answer.utf8))
                guard keepsConnections else { return }
            }
        })
    }

    convenience init(_ answer: String) throws { try self.init { _ in answer } }

    deinit { listener.stop() }

    var port: UInt16 { listener.port }
    var url: String { "http://127.0.0.1:\(port)/" }
    var requests: [(head: [String], body: String)] { notes.state.withLock { $0.requests } }
    var connections: Int { notes.state.withLock { $0.connections } }

    /// Waits for `count` more requests.
    func isAsked(_ count: Int = 1) async {
        var left = count
        for await _ in asked {
            left -= 1
            if left == 0 { return }
        }
    }

    func stop() { listener.stop() }
}
