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

    func free(for share: Delivery.Share) -> Int { mostForOne - underWay[share, default: 0] }

    /// Who has the fewest under way goes first, then who has waited longest.
    func goesBefore(_ one: DueShare, _ other: DueShare) -> Bool {
        let (ones, others) = (underWay[one.share, default: 0], underWay[other.share, default: 0])
        return ones == others ? one.dueAt < other.dueAt : ones < others
    }

    mutating func take(for share: Delivery.Share) {
        underWay[share, default: 0] += 1
        total += 1
    }

    mutating func giveBack(for share: Delivery.Share) {
        let left = underWay[share, default: 1] - 1
        underWay[share] = left > 0 ? left : nil
        total -= 1
    }
}
