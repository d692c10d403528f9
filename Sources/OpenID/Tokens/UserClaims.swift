public import Identity
public import JOSE
public import OAuth
public import Values

/// What is told of a person, by scope, by the `claims` parameter, and by what the client is registered for.
public struct UserClaims: Sendable {
    private let accounts: Accounts

    public init(accounts: Accounts) { self.accounts = accounts }

    /// Claims of an ID token: those that were asked for by name, those of the scope when it is to carry them, and the
    /// client's own, from the person's attributes.
    func ofIDToken(
        _ id: AccountID, for client: Client, scope: Scope, carriesScope: Bool, _ asked: ClaimsRequest?
    ) async throws -> [JSON.Member] {
        let wishes = asked?.idToken ?? [:]
        guard carriesScope || !wishes.isEmpty || !client.openID.claims.isEmpty else { return [] }
        guard let account = try await accounts.find(id) else { return [] }
        let allowed = Self.allowed(scope, isFirstParty: client.firstParty, clientScope: client.scope)
        var members = Self.members(of: account) { claim, of in
            (carriesScope && scope.contains(of)) || (wishes[claim] != nil && allowed.contains(of))
        }
        for (claim, attribute) in client.openID.claims.sorted(by: { $0.key < $1.key }) {
            guard let value = account.attributes[attribute] else { continue }
            members.removeAll { $0.name == claim }
            members.append(.init(claim, value))
        }
        return members
    }

    /// The answer of userinfo, without `sub` (OpenID Connect Core §5.3.2); nil when there is nobody any more.
    public func ofUserinfo(
        _ id: AccountID, _ token: AccessToken, _ asked: ClaimsRequest?
    ) async throws -> [JSON.Member]? {
        guard let account = try await accounts.find(id), account.deletionDueAt == nil else { return nil }
        let wishes = asked?.userinfo ?? [:]
        let allowed = Self.allowed(token.scope, isFirstParty: token.isFirstParty, clientScope: token.clientScope)
        return Self.members(of: account) { claim, of in
            token.scope.contains(of) || (wishes[claim] != nil && allowed.contains(of))
        }
    }

    /// All there is of a person who asks for themselves; nil when there is nobody any more.
    public func ofPerson(_ id: AccountID) async throws -> [JSON.Member]? {
        guard let account = try await accounts.find(id), account.deletionDueAt == nil else { return nil }
        return Self.members(of: account) { _, _ in true }
    }

    /// Where single claims may come from: a merchant's own client needs no more than its registration; of another's the
    /// person was asked for the scope, and nothing else.
    private static func allowed(_ scope: Scope, isFirstParty: Bool, clientScope: Scope) -> Scope {
        isFirstParty ? clientScope : scope
    }

    /// The standard claims of `account` (Core §5.1) that `covers` takes, each by its name and its scope.
    private static func members(of account: Account, _ covers: (String, String) -> Bool) -> [JSON.Member] {
        var members: [JSON.Member] = []
        for (scope, claims) in Account.claims {
            for claim in claims where covers(claim, scope) {
                if let value = account.profile[claim] { members.append(.init(claim, value)) }
            }
        }
        if covers("updated_at", "profile") { members.append(.init("updated_at", .integer(account.updatedAt.seconds))) }
        if let email = account.email {
            if covers("email", "email") { members.append(.init("email", .string(email))) }
            if covers("email_verified", "email") {
                members.append(.init("email_verified", .bool(account.emailVerified)))
            }
        }
        return members
    }
}
