import Foundation

/// The time of day. It is passed as an argument everywhere, so that tests can set it.
public protocol WallClock: Sendable {
    var now: Timestamp { get }
}

/// The machine's clock. Nothing else in the tree asks for the time of day.
public struct SystemClock: WallClock {
    public init() {}
    public var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}
