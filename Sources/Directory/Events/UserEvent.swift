/// What happens to a user that other parts of the program act on.
public enum UserEvent: Sendable, Equatable {
    /// The user signed up; `agreed` is the note of the terms that were accepted.
    case signedUp(agreed: String)
    /// The user differs in `fields`; `standing` is how they stand now, if that is different.
    case changed(fields: Set<Field>, standing: Standing?)
    /// A session was ended on request, or several at once.
    case signedOut(of: SignedOutSession)
    /// These live sessions end, in this transaction. Said after their user signed out, if they did.
    case sessionsEnd([Session.ID])
    /// All sessions end, except one.
    case allSessionsEnd(except: Session.ID?)
    /// The user signed out of one client, and stays signed in to the browser.
    case clientLeft(Client.ID, in: Session.ID)
    /// These token families end: one was revoked, or a token or code of it was used twice.
    case familiesEnd([TokenFamily.ID])
    /// All that the user gave this client ends: they revoked it, or it is being deleted.
    case clientEnds(Client.ID)
    /// All that the user gave this merchant's clients ends: the merchant removed the user.
    case removed(from: Merchant.ID)
    /// All that earlier sign-ins gave ends, except one browser session: the password is new, or the user is disabled,
    /// asks for deletion, or was somebody else.
    case accessRevoked(keeping: Session.ID?)
    /// The owner of the address proved to read it for the first time, or administration gave a password to a user with
    /// another address, or one that nobody has proved. Until now the user may have been somebody else.
    /// `signUp` is where the link of an app's sign-up leads, if it was that.
    case takenOver(signUp: String?)
    /// A subject of `issuer` was linked to the user, and can sign them in from now on.
    case linked(issuer: String)
    /// A link to the issuer with this id was removed, by the user or with the app that made it. What it vouched for
    /// ends, except one browser session. A confined link, which an app had made, was good for its merchant alone.
    case unlinked(issuer: String, keeping: Session.ID?, wasConfined: Bool)
    /// Codes go to another number or mailbox than before, or to none. What was opened by this method ends, except one
    /// browser session.
    case methodRevoked(SignIn.Method, keeping: Session.ID?)
    /// The user revoked one of the merchant's own apps, or the merchant removed the user from all of them.
    case disconnected(from: Merchant.ID)
    /// The user's connections to these clients are about to end, in this transaction.
    case connectionsEnding(to: [Client.ID])
    /// The user is about to be deleted, in this transaction.
    case deleted

    /// An event without its values.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case signedUp, changed, signedOut, sessionsEnd, allSessionsEnd, clientLeft, familiesEnd, clientEnds, removed
        case accessRevoked, takenOver, linked, unlinked, methodRevoked, disconnected, connectionsEnding, deleted
    }

    var kind: Kind {
        switch self {
        case .signedUp: .signedUp
        case .changed: .changed
        case .signedOut: .signedOut
        case .sessionsEnd: .sessionsEnd
        case .allSessionsEnd: .allSessionsEnd
        case .clientLeft: .clientLeft
        case .familiesEnd: .familiesEnd
        case .clientEnds: .clientEnds
        case .removed: .removed
        case .accessRevoked: .accessRevoked
        case .takenOver: .takenOver
        case .linked: .linked
        case .unlinked: .unlinked
        case .methodRevoked: .methodRevoked
        case .disconnected: .disconnected
        case .connectionsEnding: .connectionsEnding
        case .deleted: .deleted
        }
    }

    /// What a change is about. Never a value.
    public enum Field: Sendable, Hashable {
        case email, password
        /// A claim of the profile, by its name.
        case claim(String)
    }

    /// What a session that was ended on request rested on, and so who has to hear of it.
    public enum SignedOutSession: Sendable, Hashable {
        /// A sign-in, which is good everywhere.
        case signIn
        /// A sign-in that is good for this merchant alone.
        case confined(to: Merchant.ID)
        /// The token of an app.
        case bought(by: TokenFamily.ID)
    }

    /// How a user stands.
    public enum Standing: Sendable {
        case unverified, verified
        /// The user asked for deletion, and may still cancel it.
        case leaving
        case disabled
    }
}

extension User {
    /// How the user stands: disabled before all else.
    public var standing: UserEvent.Standing {
        if disabledAt != nil { return .disabled }
        if deletionDueAt != nil { return .leaving }
        return emailVerified ? .verified : .unverified
    }
}
