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
