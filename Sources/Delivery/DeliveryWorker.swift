import Logging
import Synchronization

/// Sends one kind of delivery, a few at a time and fewer for each share, so that a slow receiver delays only its own
/// share.
public struct DeliveryWorker: Sendable {
    private let outbox: Outbox
    private let carrier: any Transport

    public init(_ outbox: Outbox, by carrier: any Transport) {
        self.outbox = outbox
        self.carrier = carrier
    }

    /// Sends due deliveries at each nudge. Returns when the outbox is closed and all deliveries have ended.
    public func run() async {
        let room = Occupancy(Self.room(carrier.kind))
        await withDiscardingTaskGroup { group in
            for await _ in outbox.nudges() {
                for claim in await claims(room.now) {
                    room.change { $0.take(for: claim.share) }
                    group.addTask {
                        _ = await outbox.deliver(claim, by: carrier)
                        room.change { $0.giveBack(for: claim.share) }
                        // There is room for the next one.
                        outbox.nudge()
                    }
                }
            }
        }
    }

    static func room(_ kind: Delivery.Kind) -> DeliveryRoom {
        DeliveryRoom(
            mostAtOnce: DeliveryLimits.mostAtOnce(kind), mostForOne: DeliveryLimits.mostForOneShare(kind))
    }

    private func claims(_ room: DeliveryRoom) async -> [Lease] {
        guard room.free > 0 else { return [] }
        do {
            return try await outbox.claim(carrier.kind, room)
        } catch {
            // Without the kind: what keeps one kind from being read keeps all, and equal errors are counted.
            outbox.logger.error(
                "deliveries could not be read", metadata: ["error": "\(String(reflecting: error))"])
            return []
        }
    }
}

private final class Occupancy: Sendable {
    private let room: Mutex<DeliveryRoom>

    init(_ room: DeliveryRoom) { self.room = Mutex(room) }

    var now: DeliveryRoom { room.withLock { $0 } }
    func change(_ change: (inout DeliveryRoom) -> Void) { room.withLock { change(&$0) } }
}
