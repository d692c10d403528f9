import Synchronization
public import Values

/// A clock that stands still until a test advances it.
public final class ManualClock: WallClock {
    private let time: Mutex<Timestamp>

    public init(_ start: Timestamp = Timestamp(milliseconds: 1_800_000_000 * 1000)) { time = Mutex(start) }

    public var now: Timestamp { time.withLock { $0 } }

    public func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}
