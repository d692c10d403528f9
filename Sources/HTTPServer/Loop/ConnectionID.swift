/// A connection's place on its loop and which one of those that stood there it is. After a connection is closed its
/// identifier finds nothing, so nothing is ever written to the one that took its place.
struct ConnectionID: Hashable, Sendable {
    let raw: UInt64

    init(raw: UInt64) { self.raw = raw }
    init(slot: Int, generation: UInt32) { raw = UInt64(generation) << 32 | UInt64(UInt32(truncatingIfNeeded: slot)) }

    var slot: Int { Int(raw & 0xFFFF_FFFF) }
    var generation: UInt32 { UInt32(raw >> 32) }

    /// A generation that no connection has: what wakes the loop, and its listeners.
    static let reserved = UInt32.max
}
