import Directory
public import JSON

/// The `claims` parameter: single claims that a client requests besides those of its scope (OpenID Connect Core §5.5).
public struct ClaimsRequest: Sendable, Equatable {
    /// One requested claim.
    public struct Wish: Sendable, Equatable {
        public let isEssential: Bool
        /// The values that the client accepts; empty means any.
        public let values: [JSON]
    }

    public let idToken: [String: Wish]
    public let userinfo: [String: Wish]
    /// Its text, which is also what is stored.
    public let text: String

    private static let longest = 4096
    private static let most = 50

    init(idToken: [String: Wish], userinfo: [String: Wish], text: String) {
        self.idToken = idToken
        self.userinfo = userinfo
        self.text = text
    }

    /// Ignores unknown members, as the specification requires. Refuses text that has another form.
    public init(_ text: String) throws(OAuthError) {
        guard text.utf8.count <= Self.longest, let json = try? JSON(parsing: Array(text.utf8)), json.members != nil
        else { throw .malformed(.claims, "a JSON object of at most 4 KiB") }
        idToken = try Self.wishes(json["id_token"])
        userinfo = try Self.wishes(json["userinfo"])
        self.text = text
    }

    /// The essential `acr` values, of which the sign-in must meet one (Core §5.5.1.1); empty means any.
    var requiredContexts: Set<String> {
        guard let requested = idToken["acr"], requested.isEssential else { return [] }
        return Set(requested.values.compactMap(\.string))
    }

    /// The subjects that the response may be for, if the request names any (Core §5.5.1).
    public var subjects: [String]? {
        guard let requested = idToken["sub"], !requested.values.isEmpty else { return nil }
        return requested.values.compactMap(\.string)
    }

    private static func wishes(_ json: JSON?) throws(OAuthError) -> [String: Wish] {
        guard let json, json != .null else { return [:] }
        guard let members = json.members, members.count <= most else {
            throw .malformed(.claims, "id_token and userinfo are objects of at most 50 claims")
        }
        var wishes: [String: Wish] = [:]
        for member in members {
            guard member.value == .null || member.value.members != nil else {
                throw .malformed(.claims, "each claim is null or an object")
            }
            let values = member.value["values"]?.array ?? member.value["value"].map { [$0] } ?? []
            wishes[member.name] = Wish(isEssential: member.value["essential"]?.bool ?? false, values: values)
        }
        return wishes
    }
}

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
