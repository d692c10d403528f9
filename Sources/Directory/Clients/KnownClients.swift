import Storage
import Synchronization
public import Values

/// The clients that asked lately, so that each of their requests is not another look into the database.
///
/// An entry is trusted for a second, and what this process changes it forgets at once. What another node or a command
/// changes counts here a second later. A disabled or deleted client may be told tokens in that second, which are dead
/// wherever they are presented, because that is asked each time; a secret that was ended or a scope that was taken
/// away may still earn tokens, which live as long as any.
public final class KnownClients: Sendable {
    package struct Entry: Sendable {
        package let client: Client
        package let secrets: [Fingerprint<Client>]
        package let isLive: Bool
    }

    fileprivate struct State {
        var entries: [Client.ID: (entry: Entry, readAt: Timestamp)] = [:]
        /// When what nobody asks for any more was last let go.
        var tidiedAt = Timestamp(milliseconds: 0)
        /// Counts what was forgotten: an entry that was read before is not to be kept after.
        var generation = 0
    }

    private let state = Mutex(State())
    private let clock: any WallClock

    /// How long an entry is trusted.
    public static let memory: Duration = .seconds(1)
    private static let most = 10_000

    public init(clock: any WallClock) { self.clock = clock }

    /// The entry of `id`: from memory, or by `read`, whose answer is kept.
    package func entry(_ id: Client.ID, read: () async throws -> Entry?) async throws -> Entry? {
        let now = clock.now
        let (known, generation) = state.withLock { state -> (Entry?, Int) in
            // An entry from the future is one from before the clock was set back: nobody knows how old it is.
            guard let known = state.entries[id], (known.readAt..<known.readAt + Self.memory).contains(now) else {
                return (nil, state.generation)
            }
            return (known.entry, state.generation)
        }
        if let known { return known }
        // An unknown id is not kept: a stream of made-up ids must not fill the memory.
        guard let entry = try await read() else { return nil }
        state.withLock { state in
            guard state.generation == generation else { return }
            state.letGo(at: now)
            if state.entries.count >= Self.most { state.entries.removeAll(keepingCapacity: true) }
            state.entries[id] = (entry, now)
        }
        return entry
    }

    /// How many are kept.
    package var count: Int { state.withLock { $0.entries.count } }

    /// Forgets everything: a client, a secret or a merchant was changed. That is rare, and the next requests read again.
    func forget() {
        state.withLock { state in
            state.entries.removeAll(keepingCapacity: true)
            state.generation += 1
        }
    }
}

extension KnownClients.State {
    /// Lets go of what is too old to be used, once in a while: a client asked for once must not stay, with all the keys
    /// and addresses it registered.
    fileprivate mutating func letGo(at now: Timestamp) {
        guard !(tidiedAt..<tidiedAt + KnownClients.memory).contains(now) else { return }
        tidiedAt = now
        entries = entries.filter { ($0.value.readAt..<$0.value.readAt + KnownClients.memory).contains(now) }
    }
}
