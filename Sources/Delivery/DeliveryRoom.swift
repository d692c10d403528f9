import Values

/// How many more deliveries a worker can take, in all and for each share.
struct DeliveryRoom: Sendable {
    /// A share with something to send.
    struct DueShare: Sendable {
        let share: Delivery.Share
        /// Its most overdue delivery.
        let dueAt: Timestamp
    }

    let mostAtOnce: Int
    let mostForOne: Int
    private var underWay: [Delivery.Share: Int] = [:]
    private var total = 0

    init(mostAtOnce: Int, mostForOne: Int) {
        self.mostAtOnce = mostAtOnce
        self.mostForOne = mostForOne
    }

    var free: Int { mostAtOnce - total }

    func free(for share: Delivery.Share) -> Int { mostForOne - underWay[share.whole, default: 0] }

    /// The shares in the order of their turns: first those with the fewest running deliveries, then those that have
    /// waited longest; within a share, urgent deliveries first.
    func inTurn(_ due: [DueShare]) -> [Delivery.Share] {
        let parts = Dictionary(grouping: due.map(\.share), by: \.whole)
        let longest = Dictionary(due.map { ($0.share.whole, $0.dueAt) }) { min($0, $1) }
        let wholes = longest.sorted { one, other in
            let ones = underWay[one.key, default: 0]
            let others = underWay[other.key, default: 0]
            return ones == others ? one.value < other.value : ones < others
        }
        return wholes.flatMap { whole, _ in (parts[whole] ?? []).sorted { $0.isUrgent && !$1.isUrgent } }
    }

    mutating func take(for share: Delivery.Share, _ count: Int = 1) {
        underWay[share.whole, default: 0] += count
        total += count
    }

    mutating func giveBack(for share: Delivery.Share) {
        let left = underWay[share.whole, default: 1] - 1
        underWay[share.whole] = left > 0 ? left : nil
        total -= 1
    }
}
