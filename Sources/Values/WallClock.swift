import Glibc

/// The time of day. It is passed as an argument everywhere, so that tests can set it.
public protocol WallClock: Sendable {
    var now: Timestamp { get }
}

/// The machine's clock. Nothing else in the tree asks for the time of day.
public struct SystemClock: WallClock {
    public init() {}
    public var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
