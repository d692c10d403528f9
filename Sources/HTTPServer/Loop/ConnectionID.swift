/// A connection's slot on its loop, with a generation that tells it from earlier connections in that slot. The
/// identifier of a closed connection finds no connection, so nothing is ever written to its successor.
struct ConnectionID: Hashable, Sendable {
    let raw: UInt64

    init(raw: UInt64) { self.raw = raw }
    init(slot: Int, generation: UInt32) { raw = UInt64(generation) << 32 | UInt64(UInt32(truncatingIfNeeded: slot)) }

    var slot: Int { Int(raw & 0xFFFF_FFFF) }
    var generation: UInt32 { UInt32(raw >> 32) }

    /// A generation that no connection has: it marks the loop's wake-up descriptor and its listeners.
    static let reserved = UInt32.max
}
