import Glibc

/// A point in time, in milliseconds since 1970, so that 30 seconds are exact to the millisecond.
public struct Timestamp: Sendable, Hashable, Comparable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The time `seconds` after 1970, as in a JWT's NumericDate (RFC 7519 §2) or a client's date. Nil outside the years
    /// 0 to 9999, which our calendars cannot write.
    public init?(seconds: Int64) {
        guard Self.calendar.contains(seconds) else { return nil }
        self.milliseconds = seconds * 1000
    }

    /// The seconds of the years 0 to 9999.
    private static let calendar: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Whole seconds since 1970, rounded down, for a JWT or an introspection response.
    public var seconds: Int64 { milliseconds / 1000 }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }
    // Sums stop at the last possible time: a time sent by a client must not end the process.
    public static func + (a: Timestamp, b: Duration) -> Timestamp {
        Timestamp(milliseconds: a.milliseconds.saturatingAdd(b.milliseconds))
    }
    public static func - (a: Timestamp, b: Duration) -> Timestamp {
        Timestamp(milliseconds: a.milliseconds.saturatingSubtract(b.milliseconds))
    }
    public static func - (a: Timestamp, b: Timestamp) -> Duration {
        .milliseconds(a.milliseconds.saturatingSubtract(b.milliseconds))
    }
}

extension Int64 {
    fileprivate func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    fileprivate func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}

extension Duration {
    /// Whole milliseconds, limited to the range of `Int64`.
    public var milliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }
    /// Whole seconds, for `expires_in` and `Retry-After`.
    public var seconds: Int64 { components.seconds }
    public static func days(_ count: Int64) -> Duration { .seconds(count * 86400) }
    public static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }
    public static func minutes(_ count: Int64) -> Duration { .seconds(count * 60) }
}

extension Timestamp {
    /// The time in UTC to the second, by RFC 3339: 2031-02-03T04:05:06Z.
    public var iso8601: String {
        var seconds = time_t(self.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: Int32, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let day = [digits(parts.tm_year + 1900, 4), digits(parts.tm_mon + 1, 2), digits(parts.tm_mday, 2)]
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }
        return "\(day.joined(separator: "-"))T\(time.joined(separator: ":"))Z"
    }

    /// The same to the millisecond: 2031-02-03T04:05:06.789Z.
    public var rfc3339: String {
        let thousandths = String(milliseconds - seconds * 1000)
        return iso8601.dropLast() + "." + String(repeating: "0", count: 3 - thousandths.count) + thousandths + "Z"
    }
}

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
