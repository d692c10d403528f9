import Logging
import Synchronization

/// Sends one kind of delivery, a few at a time, so that a slow receiver does not keep the others waiting.
public struct DeliveryWorker: Sendable {
    private let outbox: Outbox
    private let carrier: any Transport

    static let mostAtOnce = 8

    public init(_ outbox: Outbox, by carrier: any Transport) {
        self.outbox = outbox
        self.carrier = carrier
    }

    /// Sends due deliveries at each nudge. Returns when the outbox is closed and nothing is under way any more.
    public func run() async {
        let onTheWay = Count()
        await withDiscardingTaskGroup { group in
            for await _ in outbox.nudges() {
                for claim in await claims(most: Self.mostAtOnce - onTheWay.now) {
                    onTheWay.add(1)
                    group.addTask {
                        _ = await outbox.deliver(claim, by: carrier)
                        onTheWay.add(-1)
                        // There is room for the next one.
                        outbox.nudge()
                    }
                }
            }
        }
    }

    private func claims(most: Int) async -> [Lease] {
        guard most > 0 else { return [] }
        do {
            return try await outbox.claim(carrier.kind, most: most)
        } catch {
            outbox.logger.error(
                "what is to be delivered could not be read",
                metadata: ["kind": "\(carrier.kind.rawValue)", "error": "\(String(reflecting: error))"])
            return []
        }
    }
}

private final class Count: Sendable {
    private let number = Atomic(0)

    var now: Int { number.load(ordering: .relaxed) }
    func add(_ change: Int) { number.wrappingAdd(change, ordering: .relaxed) }
}
