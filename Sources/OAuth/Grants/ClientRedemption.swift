import Directory
import Storage

/// Confirms that the client is unchanged since it authenticated: not disabled, and still registered for the grant and
/// the scope.
///
/// An administrator may have changed it while a password was hashed or another server was asked. And a node caches a
/// client for a moment, in which the secret it authenticated with may have been ended.
struct ClientRedemption: Redemption {
    let redemption: any Redemption
    let client: Client
    let grant: GrantType
    let scope: Scope

    /// Other grants write right after they read, and a token that is given a moment too long cannot administer.
    static func isNeeded(by client: Client, for grant: GrantType, scope: Scope) -> Bool {
        slow.contains(grant) || client.authentication == .privateKeyJWT || scope.administers
    }

    private static let slow: Set<GrantType> = [.password, .jwtBearer, .tokenExchange, .passwordless]

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard let current = try Clients.findLive(client.id, in: db) else {
            return .refused(.clientRefused("client_disabled_meanwhile", client.id))
        }
        // A client that used an ended secret gets nothing; one that used another secret must ask again.
        guard current.secretEndedAt == client.secretEndedAt else { return .refused(.secretEndedMeanwhile) }
        guard current.may(grant) else { return .refused(.grantNotAllowed(client.id)) }
        guard scope.isSubset(of: current.scope) else {
            return .refused(
                OAuthError(
                    .invalidScope, "scope_withdrawn_meanwhile",
                    "The client was changed meanwhile: send the "
                        + "request again."))
        }
        return try redemption.win(attempt, in: db)
    }
}
