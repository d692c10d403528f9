import CSQLite

/// Ends a read that takes too long: while it is open, a checkpoint cannot go beyond its snapshot.
///
/// SQLite calls this after each 100,000 steps of its virtual machine, some milliseconds. A look-up never gets that far,
/// and so never reads the clock.
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

    /// Starts the limit for a new read.
    func begin() { since = nil }

    private func isOver() -> Bool {
        guard let since else {
            since = .now
            return false
        }
        return .now - since > longest
    }
}
