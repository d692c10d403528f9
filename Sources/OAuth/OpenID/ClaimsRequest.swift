public import JSON

/// The `claims` parameter: single claims that a client asks for, beside those of its scope (OpenID Connect Core §5.5).
public struct ClaimsRequest: Sendable, Equatable {
    /// One claim that is asked for.
    public struct Wish: Sendable, Equatable {
        public let isEssential: Bool
        /// The values the client would take; empty is any.
        public let values: [JSON]
    }

    public let idToken: [String: Wish]
    public let userinfo: [String: Wish]
    /// As it came, which is how it is kept.
    public let text: String

    private static let longest = 4096
    private static let most = 50

    /// Unknown members are ignored, as the specification wants; what is not of its form is refused.
    public init(_ text: String) throws(OAuthError) {
        guard text.utf8.count <= Self.longest, let json = try? JSON(parsing: Array(text.utf8)), json.members != nil
        else { throw .malformed(.claims, "a JSON object of at most 4 KiB") }
        idToken = try Self.wishes(json["id_token"])
        userinfo = try Self.wishes(json["userinfo"])
        self.text = text
    }

    /// The ways to sign in of which one is essential (Core §5.5.1.1); empty is any.
    var requiredContexts: Set<String> {
        guard let wish = idToken["acr"], wish.isEssential else { return [] }
        return Set(wish.values.compactMap(\.string))
    }

    /// Whom the answer must be for, if it says so (Core §5.5.1).
    public var subjects: [String]? {
        guard let wish = idToken["sub"], !wish.values.isEmpty else { return nil }
        return wish.values.compactMap(\.string)
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
