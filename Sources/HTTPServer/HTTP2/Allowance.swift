/// A budget that is spent, and that refills with time up to its first value.
struct Allowance {
    private let burst: Int
    private let perSecond: Int
    private var left: Int
    private var since: Milliseconds

    init(burst: Int, perSecond: Int, now: Milliseconds) {
        self.burst = burst
        self.perSecond = perSecond
        left = burst
        since = now
    }

    /// Takes one. False when none is left.
    mutating func spend(at now: Milliseconds) -> Bool {
        if left == 0 { refill(at: now) }
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    mutating func grant(_ count: Int) { left = min(burst, left + count) }

    private mutating func refill(at now: Milliseconds) {
        // After this time it is full in any case.
        let elapsed = min(max(0, now - since), Milliseconds(burst) * 1_000)
        let grown = Int(elapsed) * perSecond / 1_000
        guard grown > 0 else { return }
        grant(grown)
        since = now
    }
}
