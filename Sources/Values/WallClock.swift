import Glibc

/// The time of day. It is passed as an argument everywhere, so that tests can set it.
public protocol WallClock: Sendable {
    var now: Timestamp { get }
}

/// The machine's clock. No other code asks for the time of day.
public struct SystemClock: WallClock {
    public init() {}
    public var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Self.time(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    /// A time before 1970 counts as 1970: ids begin with the time, which has no sign there.
    static func time(seconds: Int, nanoseconds: Int) -> Timestamp {
        Timestamp(milliseconds: max(0, Int64(seconds) * 1000 + Int64(nanoseconds) / 1_000_000))
    }
}
