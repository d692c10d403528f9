import CPostgreSQL
import Storage
import Values

/// The address of the server and our user there: a connection string that libpq can parse. It may contain a password.
struct ServerAddress: Sendable {
    private let url: Secret<ServerAddress>

    init(_ url: String) throws(StorageError) {
        // libpq's own message would quote the string, password included.
        guard !url.utf8.contains(0), let given = Self.parse(url), Self.holdsNoPassword(url, given) else {
            throw .unreadable("the PostgreSQL connection string cannot be parsed")
        }
        self.url = Secret(url)
    }

    var text: String { url.value }

    /// The parameters that the operator gave, by libpq's names.
    var given: [String: String] { Self.parse(text) ?? [:] }

    /// libpq's parameters. Later ones override earlier ones, so the operator may change those before `dbname`.
    var parameters: KeyValuePairs<String, String> {
        [
            "application_name": "spindle", "connect_timeout": "10", "tcp_user_timeout": "30000",
            "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
            // Of several hosts, the one that accepts writes: a standby answers too, and its connection would be kept.
            "target_session_attrs": "primary",
            "dbname": url.value, "client_encoding": "UTF8",
        ]
    }

    private static func parse(_ text: String) -> [String: String]? {
        guard let options = unsafe PQconninfoParse(text, nil) else { return nil }
        defer { unsafe PQconninfoFree(options) }
        var given: [String: String] = [:]
        var option = unsafe options
        while let name = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val { unsafe given[String(cString: name)] = String(cString: value) }
            unsafe option += 1
        }
        return given
    }
}

extension ServerAddress {
    /// Whether host, port and database are plausible. If a password with an `@` or a `/` is not percent-encoded, parts
    /// of it end up in one of them, and libpq's messages quote these.
    private static func holdsNoPassword(_ url: String, _ given: [String: String]) -> Bool {
        func items(_ name: String) -> [Substring] { given[name]?.split(separator: ",") ?? [] }
        let hosts = (items("host") + items("hostaddr")).allSatisfy { host in
            // A path may contain it, and the name of an abstract socket begins with it.
            host.utf8.first == UInt8(ascii: "/") || !host.utf8.dropFirst().contains(UInt8(ascii: "@"))
        }
        let ports = items("port").allSatisfy { port in UInt16(port).map { $0 > 0 } ?? false }
        return hosts && ports && !hasAtInPath(url)
    }

    /// Whether there is an `@` after the authority of a URL and before its query.
    private static func hasAtInPath(_ url: String) -> Bool {
        guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else { return false }
        let authority = url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        // No path: a query may contain a slash.
        let beforeSlash = authority.prefix { $0 != UInt8(ascii: "/") }
        if let query = beforeSlash.firstIndex(of: UInt8(ascii: "?")), !beforeSlash[query...].contains(UInt8(ascii: "@"))
        {
            return false
        }
        let path = authority.drop { $0 != UInt8(ascii: "/") }.prefix { $0 != UInt8(ascii: "?") }
        return path.contains(UInt8(ascii: "@"))
    }
}
