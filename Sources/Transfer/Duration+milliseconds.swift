extension Duration {
    /// Whole milliseconds, within what libcurl takes, and at least one: zero would be no limit at all.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(max(1, min(seconds, 1_000_000) * 1000 + attoseconds / 1_000_000_000_000_000))
    }
}
