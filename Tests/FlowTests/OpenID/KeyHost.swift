import JSON
import Synchronization
import TestSupport

/// A client's own server on 127.0.0.1, which publishes one document.
final class KeyHost: Sendable {
    private final class Shelf: Sendable {
        let state: Mutex<(body: String, questions: Int)>
        init(_ body: String) { state = Mutex((body, 0)) }
    }

    private let shelf: Shelf
    private let listener: LocalListener

    init(_ document: JSON) throws {
        let shelf = Shelf(document.text)
        self.shelf = shelf
        listener = try LocalListener { _ in
            let body = shelf.state.withLock { state in
                state.questions += 1
                return state.body
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
            return Array("\(head)Connection: close\r\n\r\n\(body)".utf8)
        }
    }

    var address: String { "http://127.0.0.1:\(listener.port)/document" }
    /// How often it was asked.
    var questions: Int { shelf.state.withLock(\.questions) }

    func publish(_ document: JSON) { publish(text: document.text) }
    func publish(text: String) { shelf.state.withLock { $0.body = text } }
}
