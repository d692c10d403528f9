import Values

@testable import Directory

extension Session {
    /// The session `id` of a user who signed in with a password.
    static func signedIn(_ user: UserID, _ id: Session.ID, at now: Timestamp) -> Session {
        Session(
            id: id, user: user, email: nil, emailVerified: false, signIn: SignIn(at: now, by: .password),
            origin: .signIn, buyer: nil, isRemembered: false, showsAccount: false, renewals: 0, seenAt: now,
            createdAt: now)
    }
}
