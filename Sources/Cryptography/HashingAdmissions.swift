/// Who is about to hash a password, or hashes one, and how many times at once.
struct HashingAdmissions {
    private var counts: [String: Int] = [:]
    private var total = 0

    /// Lets `sender` in if fewer than `room` are in. If not, still if it has less than half as many in as the sender
    /// with the most, as long as fewer than four times `room` are in: what is about to be hashed costs a transaction
    /// first.
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
