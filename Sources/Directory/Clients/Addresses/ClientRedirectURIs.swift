import Cryptography
import Storage

/// The redirect URIs of clients as they were registered, by which administration finds a client.
package enum ClientRedirectURIs {
    /// Notes that `client` has other redirect URIs than `former`.
    static func note(_ client: Client, after former: Client?, in db: any Transaction) throws {
        let named = Set(client.redirectURIs.map(\.text))
        let known = Set(former?.redirectURIs.map(\.text) ?? [])
        for uri in known.subtracting(named) {
            try db.execute(
                "DELETE FROM client_redirect_uris WHERE fingerprint = \(mark(uri)) AND client_id = \(client.id)")
        }
        for uri in named.subtracting(known) {
            try db.execute(
                """
                INSERT INTO client_redirect_uris (fingerprint, client_id) VALUES (\(mark(uri)), \(client.id))
                ON CONFLICT (fingerprint, client_id) DO NOTHING
                """)
        }
    }

    /// Selects the clients with the redirect URI `uri`.
    static func clients(with uri: String) -> SQL {
        "SELECT client_id FROM client_redirect_uris WHERE fingerprint = \(mark(uri))"
    }

    /// An index takes no long text.
    private static func mark(_ uri: String) -> String { Base64URL.encode(Digest.sha256(uri.utf8)) }
}
