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
    /// When its tokens expire; later after each refresh.
    let expiresAt: Timestamp
    /// Whether its tokens come with an authorization response, through the browser.
    let isOfFrontChannel: Bool
    /// The attempt that spends an exchange code by storing this family, which then has the code's id.
    var redeemedBy: String?

    var user: UserID? { subject?.user }
    /// Whether storing it changes nothing for older families (`TokenFamilies.keepUp`).
    var isStoredAlone: Bool { subject?.session == nil && !isSampled }
    /// Sampling by the code's id could be avoided, since its holder can see it.
    var isSampled: Bool { redeemedBy.map(Attempt.isSampled) ?? id.isSampled }
}
