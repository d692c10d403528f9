/// A loop's connections by their identifiers.
struct ConnectionTable {
    private var connections: [Connection?] = []
    /// The generation of the connection in each slot, or of the next one.
    private var generations: [UInt32] = []
    private var free: [Int] = []

    /// Reserves a slot for a new connection.
    mutating func reserve() -> ConnectionID {
        if let slot = free.popLast() { return ConnectionID(slot: slot, generation: generations[slot]) }
        connections.append(nil)
        generations.append(0)
        return ConnectionID(slot: connections.count - 1, generation: 0)
    }

    subscript(id: ConnectionID) -> Connection? {
        get {
            let slot = id.slot
            guard slot < connections.count, generations[slot] == id.generation else { return nil }
            return connections[slot]
        }
        set { connections[id.slot] = newValue }
    }

    /// Removes exactly the connection `id`; a second call does nothing.
    mutating func remove(_ id: ConnectionID) {
        guard id.slot < connections.count, generations[id.slot] == id.generation else { return }
        connections[id.slot] = nil
        generations[id.slot] &+= 1
        if generations[id.slot] == ConnectionID.reserved { generations[id.slot] = 0 }
        free.append(id.slot)
    }

    var all: [Connection] { connections.compactMap { $0 } }
}

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
