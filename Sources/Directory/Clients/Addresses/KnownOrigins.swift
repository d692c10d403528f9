public import Storage
public import Values

/// The origins that live clients registered, up to a minute old. They answer CORS preflights, which do not name the
/// client.
public actor KnownOrigins {
    /// How long a new origin may be unknown. The table is read at most once in that time, however many requests come.
    public static let memory: Duration = .minutes(1)

    private let database: any Database
    private let clock: any WallClock
    private var origins: Set<String> = []
    private var readAt: Timestamp?
    private var reading: Task<Set<String>, any Error>?

    public init(database: any Database, clock: any WallClock) {
        self.database = database
        self.clock = clock
    }

    public func contains(_ origin: String) async throws -> Bool {
        let now = clock.now
        // A time in the future was noted before the clock was set back.
        if let readAt, (readAt..<readAt + Self.memory).contains(now) { return origins.contains(origin) }
        let task = reading ?? Task { [database] in try await Self.read(database) }
        reading = task
        defer { reading = nil }
        origins = try await task.value
        readAt = now
        return origins.contains(origin)
    }

    private static func read(_ database: any Database) async throws -> Set<String> {
        try await database.read { db in
            let rows = try db.rows(
                """
                SELECT clients.web_origins FROM clients LEFT JOIN merchants ON merchants.id = clients.merchant_id
                WHERE clients.web_origins <> '' AND clients.disabled_at IS NULL AND merchants.disabled_at IS NULL
                """)
            return Set(
                try rows.flatMap { row in
                    try row.get("web_origins", as: String.self).utf8.split(separator: UInt8(ascii: "\n"))
                        .map { WebPages(stored: String(Substring($0))).origin }
                })
        }
    }
}
