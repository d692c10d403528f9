public import Authentication
public import Directory
import HTTP
import JSON
public import OAuth
import SPiD
public import Values

/// `me`, `user/{id}`, `user/{id}/connected` and `user/{id}/varnishId`: one user.
public struct UserResource: SPiDResource {
    private let finder: UserFinder
    private let clients: Clients
    private let disclosure: UserDisclosure
    private let signSecrets: SignSecrets

    public init(
        connectedUsers: ConnectedUsers, connections: Connections, merchants: MerchantNumbers, clients: Clients,
        apps: ConnectedApps, signSecrets: SignSecrets, clock: any WallClock
    ) {
        self.signSecrets = signSecrets
        finder = UserFinder(connectedUsers: connectedUsers, connections: connections, merchants: merchants)
        disclosure = UserDisclosure(finder: finder, apps: apps, clock: clock)
        self.clients = clients
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "me", name: "Me", controller: "User.me", token: .user, reach: .everyClient
            ) { call in
                try await answer(try call.caller.user, for: try call.caller)
            },
            SPiDRoute(.get, "user/{id}", name: "Get user", controller: "User.user", token: .either) { call in
                let caller = try call.caller
                return try await answer(
                    try await finder.user(named: call.path["id"] ?? "", for: caller), for: caller)
            },
            SPiDRoute(
                .get, "user/{id}/connected", name: "Connected", controller: "User.user_connected", token: .client,
                required: ["clientId"], answer: connected),
            SPiDRoute(
                .get, "user/{id}/varnishId", name: "Varnish id", controller: "User.varnish_id", token: .either,
                answer: varnishID),
        ]
    }

    private func answer(_ id: UserID, for caller: RequestingClient) async throws -> SPiDAnswer {
        .element("User", try await disclosure.object(of: id, for: caller))
    }

    /// The value by which a paywall in front of the client's pages knows the user.
    @Sendable private func varnishID(_ call: SPiDCall) async throws -> SPiDAnswer {
        let caller = try call.caller
        try caller.requireSPiDCompatible()
        let user = try await finder.user(named: call.path["id"] ?? "", for: caller)
        let found = try await finder.find(user, for: caller)
        guard found.match.user.disabledAt == nil else {
            throw SPiDRefusal(.forbidden, "The user is blocked.", reason: "user_disabled")
        }
        guard found.match.user.emailVerified || !caller.client.requiresVerifiedEmail else {
            throw SPiDRefusal(
                .forbidden, "The user's address is not verified, and the client requires verified ones",
                reason: "unverified_user")
        }
        let id = try signSecrets.paywallID(of: found.match.user, for: caller.client, at: call.now)
        return .element("User", .members(["sp_id": .string(id)]))
    }

    /// Whether the user has used the client `clientId`.
    @Sendable private func connected(_ call: SPiDCall) async throws -> SPiDAnswer {
        let caller = try call.caller
        let client = try caller.known(try await clients.findLive(Client.ID(try call.require("clientId"))))
        let connected = try await finder.isUser(named: call.path["id"] ?? "", of: client, for: caller)
        return .element("User", .members(["connected": .bool(connected)]))
    }
}
