import CSQLite

/// Ends a read that has lasted too long: while one is open the log cannot be folded beyond it.
///
/// SQLite asks after each 100,000 steps of its machine, some milliseconds: a look-up never comes that far, and pays for
/// no clock.
final class ReadLimit {
    private static let stepsBetween: Int32 = 100_000

    private let longest: Duration
    private var since: ContinuousClock.Instant?

    init(_ longest: Duration, of connection: Connection) {
        self.longest = longest
        unsafe sqlite3_progress_handler(
            connection.handle, Self.stepsBetween,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<ReadLimit>.fromOpaque(context).takeUnretainedValue().isOver() ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// A read begins.
    func begin() { since = nil }

    private func isOver() -> Bool {
        guard let since else {
            since = .now
            return false
        }
        return .now - since > longest
    }
}
