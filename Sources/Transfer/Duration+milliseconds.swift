extension Duration {
    /// Whole milliseconds within libcurl's range, and at least one: zero would mean no limit.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(max(1, min(seconds, 1_000_000) * 1000 + attoseconds / 1_000_000_000_000_000))
    }
}
