/// Which senders hash passwords, or are about to, and how many at once.
struct HashingAdmissions {
    private var counts: [String: Int] = [:]
    private var total = 0

    /// Admits `sender` if fewer than `room` are in. Otherwise only a sender with less than half as many as the largest
    /// one, and only while fewer than four times `room` are in, because each admission costs a transaction before its
    /// hash.
    mutating func enter(_ sender: String, room: Int) -> Bool {
        let own = counts[sender, default: 0]
        if total >= room {
            guard total < 4 * room, let largest = counts.values.max(), own * 2 < largest else { return false }
        }
        counts[sender] = own + 1
        total += 1
        return true
    }

    mutating func leave(_ sender: String) {
        guard let own = counts[sender] else { return }
        counts[sender] = own > 1 ? own - 1 : nil
        total -= 1
    }
}
