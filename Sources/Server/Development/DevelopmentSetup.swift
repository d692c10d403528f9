import Administration
import Authentication
import BrowserPages
import Directory
import HTTPSupport
import JSON
public import Keys
import OAuth
public import Values

/// What a server in development mode begins with: a merchant, a client of each kind, and three users.
public struct DevelopmentSetup: Sendable {
    private let stores: Stores
    private let site: Site
    private let secrets: DevelopmentSecrets
    private let users: DevelopmentSignIn

    private static let authority = Administrator.commandLine

    public init(_ stores: Stores, _ configuration: SpindleConfiguration, masterKey: MasterKey, clock: any WallClock) {
        self.stores = stores
        site = Site(configuration)
        secrets = DevelopmentSecrets(masterKey)
        users = DevelopmentSignIn(database: stores.database, clock: clock, events: stores.events)
    }

    /// Creates what is missing. `given` redirect URIs, if any, replace those of the clients that they fit.
    public func prepare(redirectURIs given: [String]) async throws {
        let gateways = given.filter(SyncGatewayClient.isGateway)
        let others = given.filter { !SyncGatewayClient.isGateway($0) }
        let merchant = try await prepare(.app, others, of: nil)
        // A page or a server on the web may be either kind of client; an app's scheme is no server's.
        _ = try await prepare(.backend, others.filter { $0.hasPrefix("http") }, of: merchant)
        _ = try await prepare(.machine, [], of: merchant)
        _ = try await prepare(.administrator, [], of: nil)
        _ = try await prepare(.gateway, gateways, of: merchant)
        try await users.create(DevelopmentName.examples)
    }

    /// Creates `kind`, or gives it the redirect URIs. Returns its merchant.
    private func prepare(
        _ kind: DevelopmentClient, _ given: [String], of merchant: Merchant.ID?
    ) async throws -> Merchant.ID? {
        if let client = try await stores.clients.find(kind.id) {
            guard kind.hasRedirectURIs else { return client.merchant }
            // Also without new ones: the server's own page may have another address than at the last start.
            let kept = given.isEmpty ? client.redirectURIs.map(\.text) : given
            return try await stores.clients.change(kind.id, addresses(kind, kept), by: Self.authority)?.merchant
        }
        var merchant = merchant
        if kind == .app {
            merchant = try await stores.merchants.create(.members(["name": "Development"]), by: Self.authority).id
        }
        let metadata = try ClientMetadata(.object(kind.metadata + (addresses(kind, given).members ?? [])))
        // Even right after its deletion: old tokens are worthless here.
        return try await stores.clients.register(
            metadata, as: kind.id, secret: kind == .gateway ? nil : secrets.secret(of: kind.id), isKept: false,
            merchant: merchant, by: Self.authority
        ).client.merchant
    }

    /// The client's redirect URIs, including the server's own page that shows responses. The origins of the public
    /// client's may ask for tokens.
    private func addresses(_ kind: DevelopmentClient, _ given: [String]) -> JSON {
        guard kind.hasRedirectURIs else { return .object([]) }
        let own = kind.redirectURI(at: site).map { [$0] } ?? []
        let others = given.isEmpty && kind == .gateway ? SyncGatewayClient.addresses : given
        return Self.addresses(own + others.filter { !own.contains($0) }, callableFrom: kind == .app ? others : nil)
    }

    private static func addresses(_ all: [String], callableFrom pages: [String]?) -> JSON {
        let origins = pages.map { Set($0.compactMap { RedirectURI(registering: $0)?.origin }) }
        return .members([
            "redirect_uris": .array(all.map { .string($0) }),
            "web_origins": origins.map { .array($0.sorted().map { .string($0) }) },
        ])
    }

    /// Adds `address` to the redirect URIs of `client`, and its origin to those that may ask for tokens.
    static func register(
        _ address: String, at client: Client.ID, in clients: Clients, by rules: AddressRules
    ) async throws {
        try rules.refuseOwn(in: .members(["redirect_uris": .array([.string(address)])]))
        guard let found = try await clients.find(client) else { throw JSONFault("client_id", "a client's id") }
        let all = found.redirectURIs.map(\.text)
        guard !all.contains(address) else { return }
        let origins = found.webOrigins + [RedirectURI(registering: address)?.origin].compactMap(\.self)
        let document: JSON = .members([
            "redirect_uris": .array((all + [address]).map { .string($0) }),
            "web_origins": .array(Set(origins).sorted().map { .string($0) }),
        ])
        _ = try await clients.change(client, document, by: authority)
    }
}

extension DevelopmentSetup {
    /// The text that tells a developer how to begin.
    func welcome() async throws -> String {
        """
        Development mode: any user can be signed in without a password. Nothing here is real.

          issuer         \(site.issuer)
          client_id      \(DevelopmentClient.app.rawValue), public, with PKCE
          redirect_uri   \(try await list(.app))

        For Couchbase Sync Gateway:

          client_id      \(DevelopmentClient.gateway.rawValue), without PKCE, with any secret
          redirect_uri   \(try await list(.gateway))

        All clients with their secrets, users, mails and requests:
        \(site.origin)/

        To try it without an app, open
        \(DevelopmentClient.app.request(at: site) ?? site.origin)
        """
    }

    private func list(_ kind: DevelopmentClient) async throws -> String {
        let addresses = try await stores.clients.find(kind.id)?.redirectURIs.map(\.text) ?? []
        return addresses.joined(separator: "\n                 ")
    }
}

extension DevelopmentClient {
    fileprivate var hasRedirectURIs: Bool { self != .machine && self != .administrator }

    /// Its metadata without its redirect URIs.
    fileprivate var metadata: [JSON.Member] {
        switch self {
        case .app:
            [
                .init("client_name", "Development"), .init("token_endpoint_auth_method", "none"),
                .init("grant_types", .array(["authorization_code", "refresh_token", "implicit"])),
                .init("response_types", .array(ResponseType.all.map { .string("\($0)") })),
                .init("scope", .string(Self.scope)),
            ]
        case .backend:
            [
                .init("client_name", "Development backend"),
                .init("token_endpoint_auth_method", "client_secret_basic"),
                .init("grant_types", .array(["authorization_code", "refresh_token"])),
                .init("scope", .string(Self.scope)),
            ]
        case .machine:
            [
                .init("client_name", "Development machine"),
                .init("token_endpoint_auth_method", "client_secret_basic"),
                .init("grant_types", .array(["client_credentials"])), .init("scope", "read write"),
            ]
        case .administrator:
            [
                .init("client_name", "Development administrator"),
                .init("token_endpoint_auth_method", "client_secret_basic"),
                .init("grant_types", .array(["client_credentials"])), .init("scope", .string(Scope.admin)),
            ]
        case .gateway: SyncGatewayClient.members
        }
    }
}
