import Directory
import JSON

extension ClaimsRequest {
    /// The claims of a user, by the scope that contains them (OpenID Connect Core §5.4).
    private static let scopes: KeyValuePairs<String, Set<String>> = [
        "profile": [
            "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
            "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at",
        ],
        "email": ["email", "email_verified"], "address": ["address"],
        "phone": ["phone_number", "phone_number_verified"],
    ]
    private static let prefix = "claim:"

    /// The name of a single claim among the scopes that a user allowed.
    public static func family(for claim: String) -> String { prefix + claim }

    /// Whether `name`, among such scopes, is a single claim.
    public static func isPermission(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// The single claims of the scopes in `scope`, by the names that a user allows them by.
    static func permissions(of scope: Scope) -> Scope {
        Scope(scopes.filter { scope.contains($0.key) }.flatMap { $0.value.sorted() }.map(family(for:)))
    }

    /// What of `allowed` a client with the scope `registered` may still use, including the single claims of its scopes.
    static func rest(of allowed: Scope, for registered: Scope) -> Scope {
        let claims = Set(scopes.filter { registered.contains($0.key) }.flatMap(\.value).map(family(for:)))
        return Scope(allowed.tokens.filter { registered.contains($0) || claims.contains($0) })
    }

    /// The claims to ask a user for by name: those that `scope` does not contain and that the client may ask for.
    func families(beside scope: Scope, within registered: Scope) -> Scope {
        let names = Set(idToken.keys).union(userinfo.keys)
        return Scope(
            Self.scopes.filter { of, _ in !scope.contains(of) && registered.contains(of) }
                .flatMap { _, claims in claims.intersection(names).sorted() }.map(Self.family(for:)))
    }

    /// The request without the `declined` claims and those of declined scopes: declining a scope declines its claims.
    func without(_ declined: Scope) -> ClaimsRequest {
        let permissions = declined.union(Self.permissions(of: declined)).tokens.filter(Self.isPermission)
        let names = Set(permissions.map { String($0.dropFirst(Self.prefix.count)) })
        guard !names.isDisjoint(with: Set(idToken.keys).union(userinfo.keys)),
            let json = try? JSON(parsing: Array(text.utf8)), let members = json.members
        else { return self }
        let rest = members.map { member in
            guard ["id_token", "userinfo"].contains(member.name), let wishes = member.value.members else {
                return member
            }
            return JSON.Member(member.name, .object(wishes.filter { !names.contains($0.name) }))
        }
        return ClaimsRequest(
            idToken: idToken.filter { !names.contains($0.key) }, userinfo: userinfo.filter { !names.contains($0.key) },
            text: JSON.object(rest).text)
    }
}
