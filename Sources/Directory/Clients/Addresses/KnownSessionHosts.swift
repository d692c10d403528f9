import JSON
public import Storage
import Synchronization
public import Values

/// The hosts that clients registered as `session_hosts`. A change by another node or a command is known a minute later
/// at most.
///
/// Every request to another host than the server's own is looked up here. So the table is read once a minute and after
/// changes, and once it has been read, a database that does not answer fails no request.
public final class KnownSessionHosts: Sendable {
    /// How long a new host may be unknown.
    public static let memory: Duration = .minutes(1)

    private struct State {
        /// Nil before the first read.
        var hosts: Set<String>?
        var readAt: Timestamp?
        /// Of the clients, when the hosts were read.
        var generation = 0
    }

    private let state = Mutex(State())
    private let database: any Database
    private let clients: KnownClients
    private let clock: any WallClock

    public init(database: any Database, clients: KnownClients, clock: any WallClock) {
        self.database = database
        self.clients = clients
        self.clock = clock
    }

    /// Whether `host` belongs to a client, disabled or not; nil until the database has answered once. While one request
    /// reads, the others use what was known before.
    public func contains(_ host: String) async -> Bool? {
        let (now, generation) = (clock.now, clients.hostGeneration)
        let known = state.withLock { state -> Bool? in
            // A time in the future was noted before the clock was set back.
            if let hosts = state.hosts, let readAt = state.readAt, (readAt..<readAt + Self.memory).contains(now),
                state.generation == generation
            {
                return hosts.contains(host)
            }
            state.readAt = now
            state.generation = generation
            return nil
        }
        if let known { return known }
        let hosts = try? await read()
        return state.withLock { state in
            // A later read has newer data.
            if let hosts, state.hosts == nil || (state.readAt == now && state.generation == generation) {
                state.hosts = hosts
            }
            return state.hosts?.contains(host)
        }
    }

    private func read() async throws -> Set<String> {
        try await database.read { db in
            let rows = try db.rows(
                """
                SELECT spid FROM clients WHERE spid <> '{}' AND deleted_at IS NULL
                """)
            return Set(
                try rows.flatMap { row in
                    try JSON(stored: row.get("spid", as: String.self))["session_hosts"]?.strings ?? []
                })
        }
    }
}
