import Directory
package import JSON
package import OAuth
package import Values

/// Decides what the caller sees of a user.
package struct UserDisclosure: Sendable {
    private let finder: UserFinder
    private let apps: ConnectedApps
    private let clock: any WallClock

    package init(finder: UserFinder, apps: ConnectedApps, clock: any WallClock) {
        self.finder = finder
        self.apps = apps
        self.clock = clock
    }

    /// SPiD's object of the user `id`, as far as the caller may see it.
    package func object(of id: UserID, for caller: RequestingClient) async throws -> JSON {
        let found = try await finder.find(id, for: caller)
        let signedInAt = caller.token.user == nil ? nil : caller.token.signedInAt
        let object = UserObject(match: found.match, now: clock.now, signedInAt: signedInAt)
        let covers = try await scope(of: caller, for: id)
        guard caller.client.may(.useSPiDAPI) else { return object.shortest(scope: covers) }
        guard found.clients.contains(caller.contextClient.id) else {
            return object.short(scope: covers)
        }
        let clients = try await finder.usedClients(of: id, for: caller)
        return object.full(clients: clients, merchant: found.merchant, scope: covers)
    }

    /// A user's token shows what its scope covers; a client's own token shows what the user allowed the client.
    /// First-party clients see everything, with a user's token only if they are SPiD-compatible: SPiD's apps have no
    /// scopes.
    private func scope(
        of caller: RequestingClient, for user: UserID
    ) async throws -> @Sendable (String) -> Bool {
        let isUsers = caller.token.user != nil
        guard !caller.client.may(isUsers ? .ignoreScope : .seeUsersUnasked) else { return { _ in true } }
        let allowed =
            isUsers ? caller.token.scope : try await apps.scope(of: caller.contextClient, for: user) ?? .empty
        return { allowed.contains($0) }
    }
}
