public import Storage
import StoragePostgreSQL
import StorageSQLite
import System
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
