import Directory
import Storage

/// Confirms that the client is unchanged since it authenticated: not disabled, and registered for the grant
/// and the scope.
///
/// An administrator may have changed it while a password was hashed or another server was asked; and a node knows a
/// client for a moment, in which the secret may have been ended that it proved itself by.
struct ClientRedemption: Redemption {
    let claim: any Redemption
    let client: Client
    let grant: GrantType
    let scope: Scope

    /// Other grants write as soon as they have read, and what they give for a moment longer does not administer.
    static func isNeeded(by client: Client, for grant: GrantType, scope: Scope) -> Bool {
        slow.contains(grant) || client.authentication == .privateKeyJWT || scope.administers
    }

    private static let slow: Set<GrantType> = [.password, .jwtBearer, .tokenExchange, .passwordless]

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard let current = try Clients.findLive(client.id, in: db) else {
            return .refused(.clientRefused("client_disabled_meanwhile", client.id))
        }
        // Whoever proved the client with what has been ended gets nothing; who did with something else asks again.
        guard current.secretEndedAt == client.secretEndedAt else { return .refused(.secretEndedMeanwhile) }
        guard current.may(grant) else { return .refused(.grantNotAllowed(client.id)) }
        guard scope.isSubset(of: current.scope) else {
            return .refused(
                OAuthError(.invalidScope, "scope_withdrawn_meanwhile", "The client was changed: ask again."))
        }
        return try claim.win(attempt, in: db)
    }
}
