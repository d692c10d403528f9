import HTTPTypes
public import Identity
import JOSE
public import OAuth
public import Values

/// `me`, `user/{id}` and `user/{id}/connected`: one person.
public struct UserResource: SPiDResource {
    private let finder: UserFinder
    private let clients: Clients
    private let clock: any WallClock

    public init(people: ConnectedPeople, connections: Connections, clients: Clients, clock: any WallClock) {
        finder = UserFinder(people: people, connections: connections)
        self.clients = clients
        self.clock = clock
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(.get, "me", name: "Me", controller: "User.me", caller: .person) { call in
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

    private func answer(_ id: AccountID, _ call: SPiDCall) async throws -> SPiDAnswer {
        let asking = try call.asking
        let found = try await finder.find(id, for: call)
        let object = UserObject(person: found.person, now: clock.now)
        let covers = Self.scope(of: asking)
        guard found.clients.contains(where: { $0.id == asking.client.id }) else {
            return .element("User", object.short(scope: covers))
        }
        return .element("User", object.full(clients: found.clients, scope: covers))
    }

    /// A person's token shows what its scope covers, as at `/me`. SPiD's first-party apps know no scopes: they see all, and
    /// so does a client's own token.
    private static func scope(of asking: SPiDCall.Asker) -> @Sendable (String) -> Bool {
        let seesAll = asking.caller.firstParty && asking.caller.spidCompatible
        guard asking.token.account != nil, !seesAll else { return { _ in true } }
        let scope = asking.token.scope
        return { scope.contains($0) }
    }

    /// Whether the person has used a client; of somebody whom the merchant does not know, nobody is told that they exist.
    @Sendable private func connected(_ call: SPiDCall) async throws -> SPiDAnswer {
        let asking = try call.asking.client
        guard let client = try await clients.findLive(Client.ID(try call.require("clientId"))),
            client.id == asking.id || Merchant.same(client.merchant, asking.merchant)
        else { throw SPiDRefusal.unknownClient }
        guard let id = try await finder.account(call) else { throw SPiDRefusal.unknownUser }
        let connected = try await finder.connections.clients(of: id, around: asking)
        return .element("User", .members(["connected": .bool(connected.contains { $0.id == client.id })]))
    }
}
