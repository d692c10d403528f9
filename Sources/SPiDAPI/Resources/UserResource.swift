public import Authentication
public import Directory
import HTTP
import JSON
public import OAuth
import SPiD
public import Values

/// `me`, `user/{id}` and `user/{id}/connected`: one person.
public struct UserResource: SPiDResource {
    private let finder: UserFinder
    private let clients: Clients
    private let apps: ConnectedApps
    private let clock: any WallClock

    public init(
        people: ConnectedUsers, connections: Connections, clients: Clients, apps: ConnectedApps, clock: any WallClock
    ) {
        self.apps = apps
        finder = UserFinder(people: people, connections: connections)
        self.clients = clients
        self.clock = clock
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "me", name: "Me", controller: "User.me", caller: .person, reach: .everyClient
            ) { call in
                try await answer(try call.person, call)
            },
            SPiDRoute(.get, "user/{id}", name: "Get user", controller: "User.user", caller: .either) { call in
                try await answer(try await finder.wanted(call), call)
            },
            SPiDRoute(
                .get, "user/{id}/connected", name: "Connected", controller: "User.user_connected", caller: .client,
                required: ["clientId"], answer: connected),
        ]
    }

    private func answer(_ id: UserID, _ call: SPiDCall) async throws -> SPiDAnswer {
        let asking = try call.asking
        let found = try await finder.find(id, for: call)
        let object = UserObject(person: found.person, now: clock.now)
        let covers = try await scope(of: asking, for: id)
        guard !asking.caller.isStranger else { return .element("User", object.shortest(scope: covers)) }
        guard found.clients.contains(where: { $0.id == asking.client.id }) else {
            return .element("User", object.short(scope: covers))
        }
        // Which other apps of the merchant somebody uses is no third party's business.
        let shown = asking.caller.firstParty ? found.clients : found.clients.filter { $0.id == asking.client.id }
        return .element("User", object.full(clients: shown, scope: covers))
    }

    /// A person's token shows what its scope covers, as at `/me`; a client's own what the person allowed the client. The
    /// merchant's own clients see all: SPiD's apps know no scopes.
    private func scope(
        of asking: SPiDCall.RequestingClient, for person: UserID
    ) async throws -> @Sendable (String) -> Bool {
        let isPersons = asking.token.user != nil
        guard !asking.caller.firstParty || (isPersons && !asking.caller.spidCompatible) else { return { _ in true } }
        let allowed =
            isPersons ? asking.token.scope : try await apps.scope(of: asking.client.id, for: person) ?? .empty
        return { allowed.contains($0) }
    }

    /// Whether the person has used a client.
    @Sendable private func connected(_ call: SPiDCall) async throws -> SPiDAnswer {
        let asking = try call.asking.client
        guard let client = try await clients.findLive(Client.ID(try call.require("clientId"))),
            client.id == asking.id || Merchant.same(client.merchant, asking.merchant)
        else { throw SPiDRefusal.unknownClient }
        let connected = try await finder.isConnected(to: client, call)
        return .element("User", .members(["connected": .bool(connected)]))
    }
}
