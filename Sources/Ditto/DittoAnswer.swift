public import JSON
public import OAuth
import Values

/// The response to Ditto. Members whose names differ between its versions are sent under both.
public enum DittoAnswer: Sendable {
    case admitted(JSON)
    /// Ditto passes the error and its hint on, so that the app's developer can read them.
    case refused(OAuthError)

    /// Admits the user for the longest time of `rules`, limited to their token's life unless the rules allow more.
    static func admitting(_ user: DittoUser, by rules: DittoRules, at now: Timestamp) -> DittoAnswer {
        let rest = user.expiresAt - now
        let period = rules.outlivesToken ? rules.longest : min(rules.longest, rest)
        return .admitted(
            .members([
                "authenticated": true, "authenticate": true, "userID": .string(user.subject),
                "expirationSeconds": .integer(period.seconds),
                "permissions": rules.permissions.filled(for: user), "clientInfo": rules.constants.clientInfo,
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
