public import Authentication
import Directory
import HTTP
import JSON
import OAuth
import SPiD
public import Values

/// `users` and `search/users`: the users of a client, or of its whole merchant, without contact data.
public struct UserListResource: SPiDResource {
    private let connectedUsers: ConnectedUsers
    private let clock: any WallClock

    public init(connectedUsers: ConnectedUsers, clock: any WallClock) {
        self.connectedUsers = connectedUsers
        self.clock = clock
    }

    public var routes: [SPiDRoute] {
        let parameters = SPiDCall.listParameters + UserSearch.parameters
        return [
            SPiDRoute(
                .get, "users", name: "List users", controller: "User.users", token: .client, optional: parameters,
                answer: list),
            SPiDRoute(
                .get, "search/users", name: "Search users", controller: "Search.users", token: .client,
                optional: parameters, answer: search),
            SPiDRoute(
                .get, "search/users/{query}", name: "Search users by a word", controller: "Search.users_query",
                token: .client, optional: parameters, answer: search),
        ]
    }

    @Sendable private func list(_ call: SPiDCall) async throws -> SPiDAnswer {
        let search = try await UserSearch(call, among: connectedUsers)
        let users = try await users(search, call)
        return .collection("User", users.map(\.value), offset: search.query.part.offset)
    }

    @Sendable private func search(_ call: SPiDCall) async throws -> SPiDAnswer {
        let search = try await UserSearch(call, among: connectedUsers)
        guard search.isSearch else {
            throw SPiDRefusal(.badRequest, "No valid search parameters provided", reason: "no_search")
        }
        return .map("User", try await users(search, call), offset: search.query.part.offset)
    }

    /// The users found, by their ids.
    private func users(_ search: UserSearch, _ call: SPiDCall) async throws -> [JSON.Member] {
        guard !search.isImpossible else { return [] }
        let seesAll = try call.caller.client.may(.seeUsersUnasked)
        let scope = try call.caller.clientScope(isWide: search.isWide)
        let now = clock.now
        return try await find(search, for: scope).map { found in
            // What each user allowed a third-party client is looked up one by one, at `user/{id}`.
            JSON.Member(found.user.id.description, UserObject(match: found, now: now).short(scope: { _ in seesAll }))
        }
    }

    private func find(_ search: UserSearch, for scope: ClientScope) async throws -> [ConnectedUsers.Match] {
        let terms = search.terms
        guard !terms.isEmpty else {
            do {
                return try await connectedUsers.list(search.query, for: scope)
            } catch is ConnectedUsers.TooMany {
                throw SPiDRefusal(
                    .badRequest, "Too many users were made or changed in that time: narrow it by since and until",
                    reason: "too_many_users")
            }
        }
        // At most one user, to whom the terms must apply.
        if search.query.key?.isOfOne == true {
            return try await connectedUsers.list(search.query, for: scope).filter { found in
                terms.allSatisfy { $0.holds(found.user) }
            }
        }
        let found = try await connectedUsers.search(search.query, for: scope) { user in
            terms.allSatisfy { $0.holds(user) }
        }
        guard let found else {
            throw SPiDRefusal(
                .badRequest, "The client has too many users for this search: use id, email or query",
                reason: "too_many_users")
        }
        return found
    }
}
