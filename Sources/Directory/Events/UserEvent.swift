import JSON

/// What happened to a person that others act on.
public enum UserEvent: Sendable, Equatable {
    /// The person is another in `fields`; `standing` is how the account stands now, if that is another.
    case changed(fields: Set<Field>, standing: Standing?)
    /// A session ended by somebody's wish, or several at once; `family` is what bought it, nil where the person
    /// signed in themselves.
    case signedOut(family: TokenFamily.ID?)
    /// A browser session ended, whatever for. Said after that its person signed out, if so.
    case browserEnded(Session.ID)
    /// All of them ended, but for one. Said before the tokens do that came of them.
    case everyBrowserEnded(except: Session.ID?)
    /// The account's address was shown to be read for the first time: what clients had of it before may have been given
    /// by somebody else. `signUp` is where the app's own link goes on to, if it was by that.
    case takenOver(signUp: String?)
    /// The account goes. Said before it does.
    case deleted

    /// What a change is about. Never a value.
    public enum Field: Sendable, Hashable {
        case email, password
        /// A claim of the profile, by its name.
        case claim(String)
    }

    /// How an account stands.
    public enum Standing: Sendable {
        case unverified, verified
        /// Its person asked for deletion, and may still change their mind.
        case leaving
        case disabled
    }
}

extension User {
    /// How it stands: disabled before all else.
    public var standing: UserEvent.Standing {
        if disabledAt != nil { return .disabled }
        if deletionDueAt != nil { return .leaving }
        return emailVerified ? .verified : .unverified
    }
}
