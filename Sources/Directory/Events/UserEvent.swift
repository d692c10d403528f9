/// What happens to a user, for other parts of the program to act on.
public enum UserEvent: Sendable, Equatable {
    /// The user signed up; `agreed` is the note of the terms that were accepted.
    case signedUp(agreed: String)
    /// `fields` of the user changed; `standing` is the new one, if it changed.
    case changed(fields: Set<Field>, standing: Standing?)
    /// A session was ended on request, or several at once.
    case signedOut(of: SignedOutSession)
    /// These live sessions end, in this transaction. Published after the sign-out of their user, if they signed out.
    case sessionsEnd([Session.ID])
    /// All sessions end, except one.
    case allSessionsEnd(except: Session.ID?)
    /// The user signed out of one client, and stays signed in to the browser.
    case clientLeft(Client.ID, in: Session.ID)
    /// These token families end: one was revoked, or a token or code of it was used twice.
    case familiesEnd([TokenFamily.ID])
    /// Everything the user gave this client ends: they revoked it, or it is being deleted.
    case clientEnds(Client.ID)
    /// Everything the user gave this merchant's clients ends: the merchant removed the user.
    case removed(from: Merchant.ID)
    /// Everything from earlier sign-ins ends, except one browser session: the password is new, or the user is disabled,
    /// leaves, or may have been another user before.
    case accessRevoked(keeping: Session.ID?)
    /// The owner of the address proved it for the first time, or administration set a password for a user with a new or
    /// unproved address. Until now another user may have acted as this one. `signUp` is the address that the link of an
    /// app's sign-up leads to, if there was one.
    case takenOver(signUp: String?)
    /// A subject of `issuer` was linked to the user, and can sign them in from now on.
    case linked(issuer: String)
    /// A link to the issuer with this id was removed, by the user or with the app that made it. What rests on the
    /// issuer's word ends, except one browser session. A confined link, made by an app, was good for its merchant
    /// alone.
    case unlinked(issuer: String, keeping: Session.ID?, wasConfined: Bool)
    /// Codes go to another number or mailbox than before, or to none. Sessions opened by this method end, except one.
    case methodRevoked(SignIn.Method, keeping: Session.ID?)
    /// The user revoked a first-party app of the merchant, or the merchant removed the user from all of them.
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

    /// What changed. Never contains a value.
    public enum Field: Sendable, Hashable {
        case email, password
        /// A claim of the profile, by its name.
        case claim(String)
    }

    /// What a session ended on request rested on, which decides who is told.
    public enum SignedOutSession: Sendable, Hashable {
        /// A sign-in, which is good everywhere.
        case signIn
        /// A sign-in that is good for this merchant alone.
        case confined(to: Merchant.ID)
        /// The token of an app.
        case bought(by: TokenFamily.ID)
    }

    /// Whether a user may act.
    public enum Standing: Sendable {
        case unverified, verified
        /// The user asked for deletion, and may still cancel it.
        case leaving
        case disabled
    }
}

extension User {
    /// The standing of the user; disabled comes first.
    public var standing: UserEvent.Standing {
        if disabledAt != nil { return .disabled }
        if deletionDueAt != nil { return .leaving }
        return emailVerified ? .verified : .unverified
    }
}
