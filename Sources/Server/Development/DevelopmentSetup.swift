import BrowserPages
import Directory
import HTTPSupport
import JSON
import Keys
import OAuth
import Values

/// What a server in development mode begins with: the flag on its database, signing keys, a merchant and a client.
struct DevelopmentSetup {
    let installation: Installation
    let stores: Stores
    let site: Site

    private static let id = Client.ID(DevelopmentClient.id)

    /// Creates what is missing. `redirectURIs`, if any, replace those of the client.
    func prepare(redirectURIs: [String]) async throws -> Client {
        let now = installation.clock.now
        try await DevelopmentFlag(database: installation.database).set(at: now)
        try await StoredSigningKeys(database: installation.database, seal: installation.seal).createMissing(at: now)
        if let client = try await stores.clients.find(Self.id) {
            let kept = redirectURIs.isEmpty ? client.redirectURIs.map(\.text) : redirectURIs
            return try await stores.clients.change(Self.id, addresses(kept)) ?? client
        }
        let merchant = try await stores.merchants.create(.members(["name": "Development"]))
        let metadata = try ClientMetadata(.object(Self.members + (addresses(redirectURIs).members ?? [])))
        return try await stores.clients.register(metadata, as: Self.id, merchant: merchant.id).client
    }

    private static let members: [JSON.Member] = [
        .init("client_name", "Development"), .init("token_endpoint_auth_method", "none"),
        .init("grant_types", .array(["authorization_code", "refresh_token", "implicit"].map { .string($0) })),
        .init("response_types", .array(ResponseType.all.map { .string("\($0)") })),
        .init("scope", .string(DevelopmentClient.scope)),
    ]

    /// The client's redirect URIs, including the server's own page that shows responses, and the origins of the others,
    /// which may ask for tokens.
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
    func welcome(_ client: Client) -> String {
        """
        Development mode: anybody signs in as anybody, without a password. Nothing here is real.

          issuer         \(site.issuer)
          client_id      \(client.id), public, with PKCE
          redirect_uri   \(client.redirectURIs.map(\.text).joined(separator: "\n                 "))

        To try it without an app, open
        \(DevelopmentClient.request(at: site))
        """
    }
}
