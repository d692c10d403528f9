import CPostgreSQL
import Storage
import Values

/// The address of the server and our user there: a connection string that libpq can parse. It may contain a password.
struct ServerAddress: Sendable {
    private let url: Secret<ServerAddress>

    init(_ url: String) throws(StorageError) {
        // libpq's own message would quote the string, password included.
        guard !url.utf8.contains(0), let options = unsafe PQconninfoParse(url, nil) else {
            throw .unreadable("the PostgreSQL connection string cannot be parsed")
        }
        unsafe PQconninfoFree(options)
        self.url = Secret(url)
    }

    var text: String { url.value }

    /// libpq's parameters. Later ones override earlier ones, so the operator may change those before `dbname`.
    var parameters: KeyValuePairs<String, String> {
        [
            "application_name": "spindle", "connect_timeout": "10", "tcp_user_timeout": "30000",
            "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
            // Of several hosts the one that writes: a standby answers too, and a connection to it would be kept.
            "target_session_attrs": "primary",
            "dbname": url.value, "client_encoding": "UTF8",
        ]
    }
}
