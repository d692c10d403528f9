public import Directory
public import Values

/// The user that a token speaks for, and what its client is told of their sign-in.
public struct Subject: Sendable, Hashable {
    public let user: UserID
    public let signedInAt: Timestamp
    /// How the user signed in (`amr`, `acr`); nil where something was bought in between.
    public let method: SignIn.Method?
    /// The browser session in which the client got its tokens (`sid`).
    public let session: Session.ID?

    public init(user: UserID, signedInAt: Timestamp, method: SignIn.Method? = nil, session: Session.ID? = nil) {
        self.user = user
        self.signedInAt = signedInAt
        self.method = method
        self.session = session
    }

    /// - Parameter isBought: whether a code or a web view was bought between the sign-in and these tokens.
    public init(user: UserID, _ signIn: SignIn, session: Session.ID? = nil, isBought: Bool = false) {
        self.init(
            user: user, signedInAt: signIn.at, method: isBought ? nil : signIn.method, session: session)
    }

    /// The user of `session`, for tokens and codes that are issued in it.
    public init(_ session: Session) {
        self.init(user: session.user, session.signIn, session: session.id, isBought: session.buyer != nil)
    }
}
