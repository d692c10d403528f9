public import Storage
import StoragePostgreSQL
import StorageSQLite
import System
import Text
public import Values

/// Where the database is: a SQLite file or a PostgreSQL server.
public enum DatabaseLocation: Sendable, CustomStringConvertible {
    case sqlite(path: String)
    /// The URL may contain a password.
    case postgreSQL(url: Secret<DatabaseLocation>)

    /// Reads a path or a `postgresql://…` URL; nil for anything else.
    public init?(_ text: String) {
        if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
            self = .postgreSQL(url: Secret(text))
        } else if Self.isPath(text) {
            self = .sqlite(path: text)
        } else {
            return nil
        }
    }

    /// Whether SQLite and readers take `text` for a path and for nothing else.
    private static func isPath(_ text: String) -> Bool {
        let others = ["postgresql:", "postgres:", "file:", ":memory:"]
        return !text.allSatisfy(\.isWhitespace) && !text.contains("://") && !others.contains(where: text.hasPrefix)
            && !isOfKeywords(text)
    }

    /// Whether it contains a part of libpq's keyword form, `host=… password = …`, which would be printed as a path.
    private static func isOfKeywords(_ text: String) -> Bool {
        let keywords = ["host", "hostaddr", "port", "dbname", "user", "password", "service", "sslmode"]
        let words = text.replacing("=", with: " = ").split(whereSeparator: \.isWhitespace)
        return zip(words, words.dropFirst()).contains { keywords.contains(String($0)) && $1 == "=" }
    }

    /// The path, or the URL without user and password.
    public var description: String {
        switch self {
        case .sqlite(let path): return path
        case .postgreSQL(let url):
            // An @ in the path follows a password that was not percent-encoded.
            guard let parts = URIParts(url.value), !parts.path.contains("@") else { return "postgresql://…" }
            let port = parts.port.map { ":\($0)" } ?? ""
            return "postgresql://\(parts.host ?? "")\(port)\(parts.path)"
        }
    }

    /// Whether a SQLite file exists. Always true for a PostgreSQL server, which is asked when it is opened.
    var exists: Bool {
        guard case .sqlite(let path) = self else { return true }
        return Files.exists(path)
    }

    /// Opens the database, for requests or for a command. A missing SQLite file is created.
    public func open(forRequests: Bool = false) async throws -> any Database {
        switch self {
        case .sqlite(let path): try await SQLiteDatabase.open(path: path)
        case .postgreSQL(let url):
            try await PostgreSQLDatabase.open(
                url: url.value, answerTime: forRequests ? AnswerTime.ofRequests : AnswerTime.ofLongWork,
                lock: Self.lockAgainstGrants)
        }
    }

    /// Locks out redemptions while access is taken away: an app that asks without pause could otherwise delay its own
    /// end. Locks in the order in which a redemption writes.
    private static let lockAgainstGrants: SQL =
        "LOCK TABLE authorization_codes, token_families IN SHARE ROW EXCLUSIVE MODE"
}

extension DatabaseLocation {
    /// Whether the URL has a password, or a malformed user part that may contain one.
    var hasPassword: Bool {
        guard case .postgreSQL(let url) = self else { return false }
        // The URL may name several hosts, which no URI may.
        let text = Array(url.value.utf8.drop { $0 != Self.slash }.drop { $0 == Self.slash })
        let user = Self.user(in: text)
        let query = text[user.endIndex...].drop { $0 != UInt8(ascii: "?") }.dropFirst()
        let secrets = ["password", "sslpassword"]
        return user.contains(UInt8(ascii: ":"))
            || query.split(separator: UInt8(ascii: "&")).contains { Self.names($0, among: secrets) }
    }

    private static let slash = UInt8(ascii: "/")
    private static let at = UInt8(ascii: "@")

    /// The text before the last `@` outside the query. The query begins after the first `@`, because libpq takes a `?`
    /// before that for a part of the password. A `/` before the `@` belongs to the path, or to a password that libpq
    /// misreads.
    private static func user(in text: [UInt8]) -> ArraySlice<UInt8> {
        let start = text.prefix { $0 != slash }.firstIndex(of: at) ?? 0
        let end = text[start...].firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        return text[..<(text[..<end].lastIndex(of: at) ?? 0)]
    }

    /// Whether `pair` sets one of the parameters `names`. libpq decodes their names.
    private static func names(_ pair: ArraySlice<UInt8>, among names: [String]) -> Bool {
        let name = PercentEncoding.decode(pair.prefix { $0 != UInt8(ascii: "=") })
        return names.contains { name == Array($0.utf8) }
    }
}

/// Checks what a database contains before any table of ours is made there.
extension DatabaseLocation {
    /// Whether it is a file without a table of ours. Looking changes nothing, while opening the file for writing would
    /// change its journal mode, and make a database of an empty file.
    var isFileWithoutSchema: Bool {
        get throws {
            guard case .sqlite(let path) = self else { return false }
            return try !Self.areOurs(SQLiteDatabase.tables(in: path))
        }
    }

    /// Throws when it is a file with tables of another program.
    func refuseForeignFile() throws {
        guard case .sqlite(let path) = self, exists else { return }
        try refuseForeign(SQLiteDatabase.tables(in: path))
    }

    /// Throws when `database` is a server where our tables would be created among those of another program.
    func refuseForeignTables(of database: any Database) async throws {
        guard let database = database as? PostgreSQLDatabase else { return }
        try refuseForeign(await database.tables())
    }

    private func refuseForeign(_ tables: Set<String>) throws {
        guard tables.isEmpty || Self.areOurs(tables) else { throw InstallationError.foreign(description) }
    }

    private static func areOurs(_ tables: Set<String>) -> Bool { tables.contains("schema_steps") }
}
