import BrowserPages
import Directory
import JSON

/// The second client of a server in development mode, for Couchbase Sync Gateway: confidential, because the gateway has
/// a secret, and without PKCE, which it does not send. It accepts any secret, as the gateway's own test provider does,
/// but only in development mode.
enum SyncGatewayClient {
    static let id = DevelopmentClient.gateway.id

    static let members: [JSON.Member] = [
        .init("client_name", "Sync Gateway"), .init("token_endpoint_auth_method", "client_secret_basic"),
        .init("grant_types", .array(["authorization_code", "refresh_token"].map { .string($0) })),
        .init("scope", "openid email profile offline_access"), .init("require_pkce", false),
        .init("id_token_scope_claims", true),
    ]

    /// The callback of every gateway's database, perhaps with the provider in the query.
    static let path = "/_oidc_callback"
    private static let databases = ["db", "notes"]

    /// Where a gateway on this machine is, unless the developer sets another address.
    static let addresses = ["localhost", "127.0.0.1"].flatMap { host in
        databases.map { "http://\(host):4984/\($0)\(path)" }
    }

    /// Whether `address`, which the developer gave, is a gateway's.
    static func isGateway(_ address: String) -> Bool {
        address.prefix { $0 != "?" }.hasSuffix(path)
    }
}
