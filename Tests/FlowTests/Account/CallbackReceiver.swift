import Synchronization
import TestSupport

/// A merchant's server on 127.0.0.1: takes each callback and hands it to the test that waits for it.
final class CallbackReceiver: Sendable {
    struct Call: Sendable {
        let path: String
        let contentType: String
        let body: String
    }

    private let listener: LocalListener
    private let calls: AsyncStream<Call>
    private let arrived: AsyncStream<Call>.Continuation
    private let refused: AsyncStream<Call>
    private let turnedAway: AsyncStream<Call>.Continuation

    var port: UInt16 { listener.port }

    /// How many of the next callbacks it refuses before it accepts the others.
    private final class Patience: Sendable {
        private let refusals: Mutex<Int>
        init(_ refusals: Int) { self.refusals = Mutex(refusals) }

        /// Whether the current callback is refused.
        func refuses() -> Bool {
            refusals.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
        }
    }

    init(refusing refusals: Int = 0) throws {
        let (calls, arrived) = AsyncStream<Call>.makeStream()
        let (refused, turnedAway) = AsyncStream<Call>.makeStream()
        (self.calls, self.arrived, self.refused, self.turnedAway) = (calls, arrived, refused, turnedAway)
        let patience = Patience(refusals)
        listener = try LocalListener(serving: { connection in
            guard let head = connection.head(), let body = connection.body(after: head) else { return }
            let refuses = patience.refuses()
            connection.say("HTTP/1.1 \(refuses ? "503 Later" : "200 OK")")
            connection.say("Content-Length: 0\r\nConnection: close\r\n")
            let words = head.first?.split(separator: " ") ?? []
            (refuses ? turnedAway : arrived).yield(
                Call(
                    path: words.dropFirst().first.map(String.init) ?? "",
                    contentType: LocalListener.Connection.header("content-type", in: head) ?? "", body: body))
        })
    }

    struct NoCall: Error {}

    /// The next accepted callback.
    func next() async throws -> Call { try await Self.first(of: calls, arrived) }

    /// The next refused callback.
    func nextRefused() async throws -> Call { try await Self.first(of: refused, turnedAway) }

    private static func first(
        of calls: AsyncStream<Call>, _ end: AsyncStream<Call>.Continuation
    ) async throws -> Call {
        let limit = Task {
            try await Task.sleep(for: .seconds(30))
            end.finish()
        }
        defer { limit.cancel() }
        for await call in calls { return call }
        throw NoCall()
    }
}
