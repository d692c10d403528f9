import Directory
import Storage

/// The claim that the client still is what it was when it proved itself: not disabled, and registered for the grant and
/// for the scope.
///
/// Where a password was hashed or another server was asked since then, an administrator may have been quicker.
struct ClientRedemption: Redemption {
    let claim: any Redemption
    let client: Client.ID
    let grant: GrantType
    let scope: Scope

    /// The others write as soon as they have read.
    static func isNeeded(by client: Client, for grant: GrantType) -> Bool {
        slow.contains(grant) || client.authentication == .privateKeyJWT
    }

    private static let slow: Set<GrantType> = [.password, .jwtBearer, .tokenExchange]

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard let current = try Clients.findLive(client, in: db) else {
            return .refused(.clientRefused("client_disabled_meanwhile", client))
        }
        guard current.may(grant) else { return .refused(.grantNotAllowed(client)) }
        guard scope.isSubset(of: current.scope) else {
            return .refused(
                OAuthError(.invalidScope, "scope_withdrawn_meanwhile", "The client was changed: ask again."))
        }
        return try claim.win(attempt, in: db)
    }
}
