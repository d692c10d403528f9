import Synchronization

/// Limits concurrent deliveries to one server, so that a slow one cannot occupy all workers. Each share has a separate
/// limit: what one merchant sends to a server takes nothing from another merchant.
final class PerHostLimiter: Sendable {
    private struct Receiver {
        struct Name {
            let share: Delivery.Share
            let host: String
        }

        var onTheWay = 0
        /// The failures in a row so far.
        var failures = 0
        var isOfInterest: Bool { onTheWay > 0 || failures > 0 }
    }

    /// How many receivers of one share are remembered. A forgotten one counts as new.
    private static let most = 1000
    private let shares = Mutex<[Delivery.Share: [String: Receiver]]>([:])

    /// Does `work` for the receiver at `url`. Throws `Undeliverable.busy` when no place became free for a while. If the
    /// receiver failed last time, throws `.resting` during another attempt, or `.crowded` while other failed receivers
    /// have the places.
    func visit(_ url: String, of share: Delivery.Share, _ work: () async throws -> Void) async throws {
        let name = Receiver.Name(share: share, host: Self.host(of: url))
        let patience = ContinuousClock.now + DeliveryLimits.patience
        while true {
            do {
                try enter(name)
                break
            } catch Undeliverable.busy where ContinuousClock.now < patience {
                // If put off at once, a backlog would leave a quick server idle until its next turn.
                try await Task.sleep(for: DeliveryLimits.look)
            }
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

    /// Takes a place.
    private func enter(_ name: Receiver.Name) throws {
        try shares.withLock { shares in
            var receivers = shares[name.share] ?? [:]
            if receivers.count >= Self.most, receivers[name.host] == nil {
                receivers = receivers.filter { $0.value.onTheWay > 0 }
            }
            var receiver = receivers[name.host] ?? Receiver()
            guard receiver.failures == 0 || receiver.onTheWay == 0 else {
                throw Undeliverable.resting(failures: receiver.failures)
            }
            // Not after a pause for its own failures: it may have recovered.
            guard receiver.failures == 0 || Self.hasRoomForFailing(receivers) else {
                throw Undeliverable.crowded(failing: receivers.values.count { $0.failures > 0 })
            }
            guard receiver.onTheWay < DeliveryLimits.mostToOneServer else { throw Undeliverable.busy }
            receiver.onTheWay += 1
            receivers[name.host] = receiver
            shares[name.share] = receivers
        }
    }

    private static func hasRoomForFailing(_ receivers: [String: Receiver]) -> Bool {
        receivers.values.count { $0.failures > 0 && $0.onTheWay > 0 } < DeliveryLimits.mostToFailing
    }

    private func leave(_ name: Receiver.Name, _ count: (_ failures: inout Int) -> Void) {
        shares.withLock { shares in
            var receivers = shares[name.share] ?? [:]
            var receiver = receivers[name.host] ?? Receiver()
            receiver.onTheWay -= 1
            count(&receiver.failures)
            receivers[name.host] = receiver.isOfInterest ? receiver : nil
            shares[name.share] = receivers.isEmpty ? nil : receivers
        }
    }

    /// Host and port.
    static func host(of url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return rest.prefix { $0 != "/" && $0 != "?" }.lowercased()
    }
}
