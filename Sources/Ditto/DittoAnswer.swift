public import JSON
public import OAuth
import Values

/// What Ditto is told. Members that changed their names between its versions are said under both.
public enum DittoAnswer: Sendable {
    case admitted(JSON)
    /// What the app's developer may read goes with it, by way of Ditto.
    case refused(OAuthError)

    /// Somebody may come in until `end`, or as long as `rules` let them.
    static func admitting(_ person: DittoUser, by rules: DittoRules, at now: Timestamp) -> DittoAnswer {
        .admitted(
            .members([
                "authenticated": true, "authenticate": true, "userID": .string(person.subject),
                "expirationSeconds": .integer(min(rules.longest, person.expiresAt - now).seconds),
                "permissions": rules.permissions.filled(for: person), "clientInfo": rules.constants.clientInfo,
                "userInfo": rules.constants.clientInfo, "identityServiceMetadata": rules.constants.metadata,
            ]))
    }

    public var json: JSON {
        switch self {
        case .admitted(let json): return json
        case .refused(let refusal):
            let info: JSON = .members([
                "error": .string(refusal.code.rawValue), "error_description": .string(refusal.hint),
            ])
            return .members(["authenticated": false, "authenticate": false, "clientInfo": info, "userInfo": info])
        }
    }
}
