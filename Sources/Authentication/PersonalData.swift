import Directory
import JSON
public import Storage
public import Values

/// The copy of all data held on a user, as the tables declare it.
public struct PersonalData: Sendable {
    private let database: any Database
    private let tables: [StoredTable]
    private let clock: any WallClock

    public init(database: any Database, clock: any WallClock, tables: [StoredTable]) {
        self.database = database
        self.clock = clock
        self.tables = tables
    }

    /// The copy as JSON in UTF-8, read in one transaction. Nil when there is no such user. At most two are written at a
    /// time, where they are read, because the rows take many times as much memory as the text.
    public func document(of id: UserID) async throws -> [UInt8]? {
        let now = clock.now
        return try await database.scan(for: .user(id.number)) { [tables] db in
            guard try User.find(id, in: db) != nil else { return nil }
            return JSON.object([.init("made_at", .string(now.iso8601))] + (try tables.export(of: id, in: db))).bytes
        }
    }
}
