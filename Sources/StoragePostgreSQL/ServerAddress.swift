import CPostgreSQL
import Storage
import Values

/// Where the server is and who we are there: a connection string libpq could parse. It may hold a password.
struct ServerAddress: Sendable {
    private let url: Secret<ServerAddress>

    init(_ url: String) throws(StorageError) {
        // libpq's own message would quote the string, password and all.
        guard !url.utf8.contains(0), let options = unsafe PQconninfoParse(url, nil) else {
            throw .unreadable("the PostgreSQL connection string cannot be parsed")
        }
        unsafe PQconninfoFree(options)
        self.url = Secret(url)
    }

    /// libpq's parameters, a later one overruling an earlier one: what stands before `dbname` the operator may change.
    var parameters: KeyValuePairs<String, String> {
        [
            "application_name": "spindle", "connect_timeout": "10", "tcp_user_timeout": "30000",
            "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
            "dbname": url.value, "client_encoding": "UTF8",
        ]
    }
}
