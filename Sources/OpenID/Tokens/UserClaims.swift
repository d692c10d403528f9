public import Authentication
public import Directory
public import JSON
public import OAuth
public import Values

/// The claims about a user, by scope, by the `claims` parameter, and by the client's registration.
public struct UserClaims: Sendable {
    private let users: Users
    private let consents: Consents

    public init(users: Users, consents: Consents) {
        self.users = users
        self.consents = consents
    }

    /// The claims of an ID token: those requested by name, those of the scope if it is to carry them, and the client's
    /// own, from the user's attributes.
    func ofIDToken(
        _ id: UserID, for client: Client, scope: Scope, carriesScope: Bool, _ asked: ClaimsRequest?
    ) async throws -> [JSON.Member] {
        let wishes = asked?.idToken ?? [:]
        let number = LegacyUserID.claim(of: id, for: client)
        guard carriesScope || !wishes.isEmpty || client.openID.claims[.idToken] != nil else { return number }
        guard let user = try await users.find(id) else { return number }
        let isAllowed = try await allowing(
            wishes, of: id, to: client.id, scope, asksNoConsent: client.may(.skipConsent), clientScope: client.scope)
        var members = Self.members(of: user) { claim, of in
            (carriesScope && scope.contains(of)) || isAllowed(claim, of)
        }
        let own = Self.members(of: user, from: client.openID.claims[.idToken])
        members.removeAll { member in own.contains { $0.name == member.name } }
        return members + own + number
    }

    /// The claims of access tokens of `client`, from the user's attributes.
    public func ofAccessToken(_ id: UserID, for client: Client) async throws -> [JSON.Member] {
        guard let claims = client.openID.claims[.accessToken], let user = try await users.find(id) else { return [] }
        return Self.members(of: user, from: claims)
    }

    private static func members(of user: User, from claims: [String: String]?) -> [JSON.Member] {
        (claims ?? [:]).sorted { $0.key < $1.key }.compactMap { claim, attribute in
            user.attributes[attribute].map { .init(claim, $0) }
        }
    }

    /// The userinfo response to `client`, whose `token` it is, without `sub` (OpenID Connect Core §5.3.2); nil when the
    /// user no longer exists.
    public func ofUserinfo(
        _ id: UserID, _ token: AccessToken, of client: Client, _ asked: ClaimsRequest?
    ) async throws -> [JSON.Member]? {
        guard let user = try await users.find(id), user.deletionDueAt == nil else { return nil }
        let wishes = asked?.userinfo ?? [:]
        let isAllowed = try await allowing(
            wishes, of: id, to: token.client, token.scope, asksNoConsent: token.may(.skipConsent),
            clientScope: token.clientScope)
        return Self.members(of: user) { claim, of in token.scope.contains(of) || isAllowed(claim, of) }
            + LegacyUserID.claim(of: id, for: client)
    }

    /// All claims, for users who ask about themselves; nil when the user no longer exists.
    public func all(of id: UserID) async throws -> [JSON.Member]? {
        guard let user = try await users.find(id), user.deletionDueAt == nil else { return nil }
        return Self.members(of: user) { _, _ in true }
    }

    /// Which single claims may be told: to a first-party client, those it is registered for. For any other client, the
    /// user must have allowed the scope, or the claim by name.
    private func allowing(
        _ wishes: [String: ClaimsRequest.Wish], of user: UserID, to client: Client.ID, _ scope: Scope,
        asksNoConsent: Bool, clientScope: Scope
    ) async throws -> (_ claim: String, _ of: String) -> Bool {
        guard !wishes.isEmpty else { return { _, _ in false } }
        guard !asksNoConsent else { return { claim, of in wishes[claim] != nil && clientScope.contains(of) } }
        let consented = try await consents.find(user, client)?.scope ?? .empty
        return { claim, of in
            guard wishes[claim] != nil else { return false }
            return scope.contains(of)
                || (clientScope.contains(of) && consented.contains(ClaimsRequest.family(for: claim)))
        }
    }

    /// The standard claims of `user` (Core §5.1) for which `covers` is true, given a claim's name and scope.
    private static func members(of user: User, _ covers: (String, String) -> Bool) -> [JSON.Member] {
        var members: [JSON.Member] = []
        for (scope, claims) in User.claims {
            for claim in claims where covers(claim, scope) {
                if let value = user.profile[claim] { members.append(.init(claim, value)) }
            }
        }
        let tellsNumber = covers("phone_number", "phone") || covers(User.phoneVerified, "phone")
        if user.profile["phone_number"] != nil, tellsNumber {
            members.append(.init(User.phoneVerified, .bool(user.isPhoneVerified)))
        }
        if covers("updated_at", "profile") { members.append(.init("updated_at", .integer(user.updatedAt.seconds))) }
        if let email = user.email {
            if covers("email", "email") { members.append(.init("email", .string(email))) }
            if covers("email_verified", "email") {
                members.append(.init("email_verified", .bool(user.emailVerified)))
            }
        }
        return members
    }
}
