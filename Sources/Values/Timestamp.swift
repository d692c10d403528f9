/// A moment, in milliseconds since 1970, so that 30 seconds are 30 seconds to the millisecond.
public struct Timestamp: Sendable, Hashable, Comparable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The moment `seconds` after 1970: a JWT's NumericDate (RFC 7519 §2).
    public init(seconds: Int64) { self.milliseconds = seconds * 1000 }

    /// Whole seconds since 1970, rounded down: what a JWT or an introspection answer carries.
    public var seconds: Int64 { milliseconds / 1000 }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }
    public static func + (a: Timestamp, b: Duration) -> Timestamp {
        Timestamp(milliseconds: a.milliseconds + b.milliseconds)
    }
    public static func - (a: Timestamp, b: Duration) -> Timestamp {
        Timestamp(milliseconds: a.milliseconds - b.milliseconds)
    }
    public static func - (a: Timestamp, b: Timestamp) -> Duration { .milliseconds(a.milliseconds - b.milliseconds) }
}

extension Duration {
    /// Whole milliseconds.
    public var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
    /// Whole seconds: `expires_in`, `Retry-After`.
    public var seconds: Int64 { components.seconds }
    public static func days(_ count: Int64) -> Duration { .seconds(count * 86400) }
    public static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }
    public static func minutes(_ count: Int64) -> Duration { .seconds(count * 60) }
}
