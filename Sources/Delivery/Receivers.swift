import Synchronization

/// The servers that parcels are on their way to: none has all the hands there are, however long it takes to answer.
final class Receivers: Sendable {
    /// Of those that `Route` carries at once.
    static let mostForOne = 2

    private let busy = Mutex<[String: Int]>([:])

    /// Does `work` for the receiver at `url`, or throws `Undeliverable.busy`.
    func visit(_ url: String, _ work: () async throws -> Void) async throws {
        let receiver = Self.receiver(of: url)
        let mayEnter = busy.withLock { busy in
            guard busy[receiver, default: 0] < Self.mostForOne else { return false }
            busy[receiver, default: 0] += 1
            return true
        }
        guard mayEnter else { throw Undeliverable.busy }
        defer {
            busy.withLock { busy in busy[receiver] = busy[receiver].flatMap { $0 > 1 ? $0 - 1 : nil } }
        }
        try await work()
    }

    /// Host and port.
    private static func receiver(of url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return rest.prefix { $0 != "/" && $0 != "?" }.lowercased()
    }
}
