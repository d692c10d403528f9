import Administration
import BrowserPages
import Directory
import HTTPSupport
import JSON
import OAuth
import Values

/// What a server in development mode begins with: the flag on its database, a merchant and two clients.
struct DevelopmentSetup {
    let installation: Installation
    let stores: Stores
    let site: Site

    private static let id = Client.ID(DevelopmentClient.id)
    private static let authority = Administrator.commandLine

    /// The clients of a server in development mode.
    struct Clients {
        let app: Client
        let gateway: Client
    }

    /// Creates what is missing. `given` redirect URIs, if any, replace those of the client that they fit.
    func prepare(redirectURIs given: [String]) async throws -> Clients {
        let now = installation.clock.now
        try await DevelopmentFlag(database: installation.database).set(at: now)
        let app = try await app(given.filter { !SyncGatewayClient.isGateway($0) })
        return Clients(
            app: app, gateway: try await gateway(given.filter(SyncGatewayClient.isGateway), merchant: app.merchant))
    }

    private func app(_ redirectURIs: [String]) async throws -> Client {
        if let client = try await stores.clients.find(Self.id) {
            let kept = redirectURIs.isEmpty ? client.redirectURIs.map(\.text) : redirectURIs
            return try await stores.clients.change(Self.id, addresses(kept), by: Self.authority) ?? client
        }
        let merchant = try await stores.merchants.create(.members(["name": "Development"]), by: Self.authority)
        let metadata = try ClientMetadata(.object(Self.members + (addresses(redirectURIs).members ?? [])))
        return try await make(metadata, Self.id, of: merchant.id)
    }

    private func gateway(_ redirectURIs: [String], merchant: Merchant.ID?) async throws -> Client {
        let given = SyncGatewayClient.redirectURIs(redirectURIs)
        if let client = try await stores.clients.find(SyncGatewayClient.id) {
            return redirectURIs.isEmpty
                ? client : try await stores.clients.change(SyncGatewayClient.id, given, by: Self.authority) ?? client
        }
        let addresses = redirectURIs.isEmpty ? SyncGatewayClient.redirectURIs(SyncGatewayClient.addresses) : given
        let metadata = try ClientMetadata(.object(SyncGatewayClient.members + (addresses.members ?? [])))
        return try await make(metadata, SyncGatewayClient.id, of: merchant)
    }

    /// Makes a client, even right after its deletion: old tokens are worthless here.
    private func make(_ metadata: ClientMetadata, _ id: Client.ID, of merchant: Merchant.ID?) async throws -> Client {
        try await stores.clients.register(
            metadata, as: id, isKept: false, merchant: merchant, by: Self.authority
        ).client
    }

    private static let members: [JSON.Member] = [
        .init("client_name", "Development"), .init("token_endpoint_auth_method", "none"),
        .init("grant_types", .array(["authorization_code", "refresh_token", "implicit"].map { .string($0) })),
        .init("response_types", .array(ResponseType.all.map { .string("\($0)") })),
        .init("scope", .string(DevelopmentClient.scope)),
    ]

    /// The client's redirect URIs, including the server's own page that shows responses. The origins of the others may
    /// ask for tokens.
    private func addresses(_ given: [String]) -> JSON {
        let own = DevelopmentClient.redirectURI(at: site)
        let all = [own] + given.filter { $0 != own }
        let origins = given.filter { $0 != own }.compactMap { RedirectURI(registering: $0)?.origin }
        return .members([
            "redirect_uris": .array(all.map { .string($0) }),
            "web_origins": .array(Set(origins).sorted().map { .string($0) }),
        ])
    }

    /// The text that tells a developer how to begin.
    func welcome(_ clients: Clients) -> String {
        """
        Development mode: any user can be signed in without a password. Nothing here is real.

          issuer         \(site.issuer)
          client_id      \(clients.app.id), public, with PKCE
          redirect_uri   \(Self.list(clients.app))

        For Couchbase Sync Gateway:

          client_id      \(clients.gateway.id), without PKCE, with any secret
          redirect_uri   \(Self.list(clients.gateway))

        To try it without an app, open
        \(DevelopmentClient.request(at: site))
        """
    }

    private static func list(_ client: Client) -> String {
        client.redirectURIs.map(\.text).joined(separator: "\n                 ")
    }
}
