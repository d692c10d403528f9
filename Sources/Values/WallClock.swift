import Foundation

/// Where the time of day comes from. An argument everywhere, so that tests turn it by hand.
public protocol WallClock: Sendable {
    var now: Timestamp { get }
}

/// The machine's clock: the only place in the tree that asks it.
public struct SystemClock: WallClock {
    public init() {}
    public var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}
