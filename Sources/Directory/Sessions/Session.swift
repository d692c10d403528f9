public import Storage
public import Values

/// A person signed in to a browser or a webview.
public struct Session: Sendable {
    public typealias ID = Identifier<Session>

    public let id: ID
    public let user: UserID
    public let email: String?
    public let emailVerified: Bool
    public let signedInAt: Timestamp
    /// How it came about.
    public let origin: Origin
    public let method: Method
    let isRemembered: Bool
    let seenAt: Timestamp
    let createdAt: Timestamp

    public enum Origin: Sendable, Equatable {
        /// The person signed in here.
        case signIn
        /// A session code bought it, with a token of a client of this merchant: it is good for that merchant only.
        case bought(merchant: Merchant.ID?)
        /// An issuer of this merchant vouched for the person: for the same reason good for that merchant only.
        case asserted(merchant: Merchant.ID)
    }

    /// What the person showed: an authentication method reference of RFC 8176, but for `token`.
    public enum Method: String, Sendable {
        case password = "pwd"
        /// A code or a link that went to the person's address.
        case mail = "otp"
        /// An access token of a phone.
        case token
        /// The word of another issuer, which says when the person signed in there.
        case issuer
        /// The same without the time. It may have been long ago.
        case issuerUndated = "issuer_undated"
    }

    /// Ends after two hours without use, and after a week in any case.
    public static let idleLifetime: Duration = .hours(2)
    public static let longestLifetime: Duration = .days(7)
    /// When the person wants to be remembered: counted from the sign-in, whether used or not.
    public static let rememberedLifetime: Duration = .days(365)
    /// How fresh a sign-in must be for what an unattended screen must not allow.
    public static let recentLifetime: Duration = .minutes(10)

    /// Whether the person signed in here a short time ago. A session that was bought is nobody's sign-in.
    public func isRecent(at now: Timestamp) -> Bool {
        origin == .signIn && now - signedInAt <= Self.recentLifetime
    }

    /// A new session, before it is stored.
    public struct Opening: Sendable {
        public let id: ID
        let secret: Secret<Session>
        package let device: Secret<Device>?
        package let userAgent: String
        package let address: String
        package var method: Method
        let isRemembered: Bool
        package var client: Client.ID?
        package var assertedBy: AssertedBy?
        /// What else comes of the person being there, in the same transaction.
        package var also: (@Sendable (UserID, Timestamp, any Transaction) throws -> Void)?

        /// - Parameters:
        ///   - device: the mark of this browser, by which its person is known again.
        ///   - client: the client that the person came by, if one did.
        public init(
            id: ID, secret: Secret<Session>, device: Secret<Device>? = nil, userAgent: String, address: String,
            method: Method, isRemembered: Bool = false, client: Client.ID? = nil
        ) {
            self.id = id
            self.secret = secret
            self.device = device
            // What a browser says about itself is shown to its owner, and never trusted.
            self.userAgent = String(userAgent.filter { !$0.isNewline }).prefix(bytes: 200)
            self.address = address
            self.method = method
            self.isRemembered = isRemembered
            self.client = client
        }

        /// The same, by way of `client`.
        public func at(_ client: Client.ID) -> Opening {
            var opening = self
            opening.client = client
            return opening
        }

        /// The same, and `work` along with it.
        public func doing(
            _ work: (@Sendable (UserID, Timestamp, any Transaction) throws -> Void)?
        ) -> Opening {
            var opening = self
            opening.also = work
            return opening
        }

        /// The same, by another method.
        package func by(_ method: Method) -> Opening {
            var opening = self
            opening.method = method
            return opening
        }

        /// When it ends unless it is used.
        func expiry(from now: Timestamp) -> Timestamp {
            now + (isRemembered ? Session.rememberedLifetime : Session.idleLifetime)
        }
    }
}

/// A browser that somebody signed in with before.
public enum Device {}
