import Directory

extension ClaimsRequest {
    /// The claims of a person, by the scope that tells them (OpenID Connect Core §5.4).
    private static let scopes: KeyValuePairs<String, Set<String>> = [
        "profile": [
            "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
            "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at",
        ],
        "email": ["email", "email_verified"], "address": ["address"],
        "phone": ["phone_number", "phone_number_verified"],
    ]
    private static let prefix = "claim:"

    /// How a single claim stands among the scopes that a person allowed.
    public static func family(for claim: String) -> String { prefix + claim }

    /// Whether `name`, among such scopes, is a single claim.
    public static func isPermission(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// What a person is asked for by name: claims that `scope` does not tell, and that the client may ask for.
    func families(beside scope: Scope, within registered: Scope) -> Scope {
        let names = Set(idToken.keys).union(userinfo.keys)
        return Scope(
            Self.scopes.filter { of, _ in !scope.contains(of) && registered.contains(of) }
                .flatMap { _, claims in claims.intersection(names).sorted() }.map(Self.family(for:)))
    }
}
