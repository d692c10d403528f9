import Directory
import Values

/// A token family before it is stored. Ending it will end all its tokens at once.
struct NewTokenFamily: Sendable {
    let id: TokenFamily.ID
    let origin: Authorization.Origin
    let client: Client.ID
    /// Nil when a client acts for itself.
    let subject: Subject?
    let scope: Scope
    let request: AuthenticationRequest
    let createdAt: Timestamp
    /// As long as its tokens live; moves along with them.
    let expiresAt: Timestamp
    /// Whether its tokens come with an authorization response, through the browser.
    let isOfFrontChannel: Bool
    /// The attempt that spends an exchange code by storing this family, which then has the code's id.
    var redeemedBy: String?

    var user: UserID? { subject?.user }
    /// Whether older families have nothing to do with it (`TokenFamilies.keepUp`).
    var isStoredAlone: Bool { subject?.session == nil && !isSampled }
    /// Of a code's id one could tell beforehand, and never redeem such a code.
    var isSampled: Bool { redeemedBy.map(Attempt.isSampled) ?? id.isSampled }
}
