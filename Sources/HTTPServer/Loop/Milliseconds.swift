import CLinux

/// A time in milliseconds, of a monotonic clock.
typealias Milliseconds = Int64

extension Milliseconds {
    static var now: Milliseconds { linux_monotonic_milliseconds() }
    static let never = Milliseconds.max
}

extension Duration {
    /// In milliseconds, rounded up, and at least one.
    var milliseconds: Milliseconds {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow, whole < .max / 4 else { return .max / 4 }
        return Swift.max(1, whole + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
