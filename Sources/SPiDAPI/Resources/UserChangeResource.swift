public import Authentication
public import Directory
import HTTP
import HTTPSupport
import JSON
public import OAuth
import SPiD
public import Values

/// `POST user/{id}`: a first-party app or backend changes the profile of a user who has used it.
public struct UserChangeResource: SPiDResource {
    private let users: Users
    private let finder: UserFinder
    private let disclosure: UserDisclosure

    public init(
        users: Users, connectedUsers: ConnectedUsers, connections: Connections, merchants: MerchantNumbers,
        apps: ConnectedApps, clock: any WallClock
    ) {
        self.users = users
        finder = UserFinder(connectedUsers: connectedUsers, connections: connections, merchants: merchants)
        disclosure = UserDisclosure(finder: finder, apps: apps, clock: clock)
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .post, "user/{id}", name: "Update user", controller: "User.user_update", token: .either,
                optional: ProfileParameters.names, isStrict: true, answer: change)
        ]
    }

    @Sendable private func change(_ call: SPiDCall) async throws -> SPiDAnswer {
        let caller = try call.caller
        try caller.requireSPiDCompatible()
        // Every client of every merchant sees the profile.
        try caller.requireFirstParty()
        let id = try await finder.user(named: call.path["id"] ?? "", for: caller)
        _ = try await finder.find(id, for: caller)
        let parameters = call.parameters
        do {
            // A changed part of the name changes the full name, which is read in the same transaction.
            let user = try await users.changeProfile(
                of: id, by: caller.writing(of: id), of: caller.client.merchant
            ) { profile in try ProfileParameters(parameters, over: profile).changes }
            guard user != nil else { throw SPiDRefusal.unknownUser }
        } catch PasswordSignIn.Refusal.throttled(let wait, _, _) {
            throw SPiDRefusal.tooMany("changes of this user", wait: wait, reason: "too_many_changes")
        }
        return .element("User", try await disclosure.object(of: id, for: caller))
    }
}
