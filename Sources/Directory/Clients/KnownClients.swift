import Storage
import Synchronization
public import Values

/// Caches the clients of recent requests, so that not every request reads the database.
///
/// An entry is trusted for a second. Changes by this process drop it at once; changes by another node or a command, and
/// changes of unknown outcome, take effect within a second. In that second a disabled or deleted client may still get
/// tokens. They are dead wherever they are presented, because each use asks the database. An ended secret or a removed
/// scope may still earn tokens of the usual lifetime.
public final class KnownClients: Sendable {
    /// A class, because copying a client is expensive.
    package final class Entry: Sendable {
        package let client: Client
        package let secrets: [Fingerprint<Client>]
        package let isLive: Bool

        package init(client: Client, secrets: [Fingerprint<Client>], isLive: Bool) {
            self.client = client
            self.secrets = secrets
            self.isLive = isLive
        }
    }

    fileprivate struct State {
        var entries: [Client.ID: (entry: Entry, readAt: Timestamp)] = [:]
        /// When old entries were last removed.
        var tidiedAt = Timestamp(milliseconds: 0)
        /// Counts the changes: an entry that was read before one must not be stored after it.
        var generation = 0
        /// Counts the changes of session hosts.
        var hostGeneration = 0
    }

    private let state = Mutex(State())
    private let clock: any WallClock

    /// How long an entry is trusted.
    public static let memory: Duration = .seconds(1)
    private static let most = 10_000

    public init(clock: any WallClock) { self.clock = clock }

    /// The entry of `id`: from the cache, or by `read`, whose result is stored.
    package func entry(_ id: Client.ID, read: () async throws -> Entry?) async throws -> Entry? {
        let now = clock.now
        let (known, generation) = state.withLock { state -> (Entry?, Int) in
            // An entry from the future was read before the clock was set back: its age is unknown.
            guard let known = state.entries[id], (known.readAt..<known.readAt + Self.memory).contains(now) else {
                return (nil, state.generation)
            }
            return (known.entry, state.generation)
        }
        if let known { return known }
        // An unknown id is not stored: a stream of made-up ids must not fill the memory.
        guard let entry = try await read() else { return nil }
        state.withLock { state in
            guard state.generation == generation else { return }
            state.letGo(at: now)
            if state.entries.count >= Self.most { state.entries.removeAll(keepingCapacity: true) }
            state.entries[id] = (entry, now)
        }
        return entry
    }

    /// Counts the changes of session hosts by this process.
    var hostGeneration: Int { state.withLock { $0.hostGeneration } }

    /// The number of stored entries.
    package var count: Int { state.withLock { $0.entries.count } }

    /// Forgets a client that was changed, or a secret of it. With `hosts`, the session hosts of all clients are read
    /// again at once: a developer who changes a client repeatedly must not cause that.
    func forget(_ id: Client.ID, hosts: Bool = false) {
        state.withLock { state in
            state.entries[id] = nil
            state.generation += 1
            if hosts { state.hostGeneration += 1 }
        }
    }

    /// Forgets the clients of a merchant that was changed.
    func forget(clientsOf merchant: Merchant.ID) {
        state.withLock { state in
            state.entries = state.entries.filter { $0.value.entry.client.merchant != merchant }
            state.generation += 1
        }
    }
}

extension KnownClients.State {
    /// Removes entries that are too old to be used, at most once a second. A client that was used once must not stay in
    /// memory with all its registered keys and URIs.
    fileprivate mutating func letGo(at now: Timestamp) {
        guard !(tidiedAt..<tidiedAt + KnownClients.memory).contains(now) else { return }
        tidiedAt = now
        entries = entries.filter { ($0.value.readAt..<$0.value.readAt + KnownClients.memory).contains(now) }
    }
}

/// What is shown of a client that a user has used. A user may have a thousand clients; reading them whole is expensive.
package struct UsedClient: Sendable {
    package let id: Client.ID
    package let name: String
    /// The origin of its first web page.
    package let origin: String?

    package init(_ client: Client) {
        id = client.id
        name = client.name
        origin = client.webPages.first?.origin
    }

    init(_ row: Row) throws {
        id = try row.get("id")
        name = try row.get("name")
        let pages = try row.get("first_pages", as: String.self)
        origin = pages.isEmpty ? nil : WebPages(stored: String(pages.prefix { $0 != "\n" })).origin
    }
}
