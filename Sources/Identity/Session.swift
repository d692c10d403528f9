public import Values

/// A person signed in to a browser or a webview.
public struct Session: Sendable {
    public typealias ID = Identifier<Session>

    public let id: ID
    public let account: AccountID
    public let email: String?
    public let signedInAt: Timestamp
    /// How it came about.
    public let origin: Origin
    let seenAt: Timestamp
    let createdAt: Timestamp

    public enum Origin: Sendable, Equatable {
        /// The person signed in here.
        case signIn
        /// A session code bought it, with a token of a client of this merchant: it is good for that merchant only.
        case bought(merchant: String?)
    }

    /// Ends after two hours without use, and after a week in any case.
    public static let idleLifetime: Duration = .hours(2)
    public static let longestLifetime: Duration = .days(7)

    /// A new session, before it is stored.
    public struct Opening: Sendable {
        public let id: ID
        let secret: Secret<Session>
        let userAgent: String
        let address: String

        public init(id: ID, secret: Secret<Session>, userAgent: String, address: String) {
            self.id = id
            self.secret = secret
            // What a browser says about itself is shown to its owner one day, and never trusted.
            self.userAgent = String(userAgent.filter { !$0.isNewline }.prefix(200))
            self.address = address
        }
    }
}
