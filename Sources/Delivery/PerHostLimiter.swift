import Synchronization

/// The servers that parcels are on their way to: none has all the hands there are, however long it takes to answer.
final class PerHostLimiter: Sendable {
    /// Of those that `DeliveryWorker` carries at once.
    static let mostForOne = 2

    private struct Receiver {
        var onTheWay = 0
        /// In a row, up to now.
        var failures = 0
        var isOfInterest: Bool { onTheWay > 0 || failures > 0 }
    }

    /// How many are remembered. A receiver that is forgotten is asked as a new one.
    private static let most = 1000
    private let receivers = Mutex<[String: Receiver]>([:])

    /// Does `work` for the receiver at `url`, or throws `Undeliverable.busy`; or `.resting`, where another tries already
    /// whether the receiver is there again.
    func visit(_ url: String, _ work: () async throws -> Void) async throws {
        let name = Self.receiver(of: url)
        try receivers.withLock { receivers in
            if receivers.count >= Self.most, receivers[name] == nil {
                receivers = receivers.filter { $0.value.onTheWay > 0 }
            }
            let receiver = receivers[name] ?? Receiver()
            guard receiver.failures == 0 || receiver.onTheWay == 0 else {
                throw Undeliverable.resting(failures: receiver.failures)
            }
            guard receiver.onTheWay < Self.mostForOne else { throw Undeliverable.busy }
            receivers[name, default: Receiver()].onTheWay += 1
        }
        do {
            try await work()
            leave(name) { $0 = 0 }
        } catch Undeliverable.temporary(let reason) {
            leave(name) { $0 += 1 }
            throw Undeliverable.temporary(reason)
        } catch Undeliverable.refused(let reason) {
            leave(name) { $0 = 0 }
            throw Undeliverable.refused(reason)
        } catch {
            leave(name) { _ in }
            throw error
        }
    }

    private func leave(_ name: String, _ count: (_ failures: inout Int) -> Void) {
        receivers.withLock { receivers in
            var receiver = receivers[name] ?? Receiver()
            receiver.onTheWay -= 1
            count(&receiver.failures)
            receivers[name] = receiver.isOfInterest ? receiver : nil
        }
    }

    /// Host and port.
    private static func receiver(of url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return rest.prefix { $0 != "/" && $0 != "?" }.lowercased()
    }
}
