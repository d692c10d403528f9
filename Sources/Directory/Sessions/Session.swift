public import Storage
public import Values

/// A user signed in to a browser or a webview.
public struct Session: Sendable {
    public typealias ID = Identifier<Session>

    public let id: ID
    public let user: UserID
    public let email: String?
    public let emailVerified: Bool
    /// Its user's sign-in; for a web view, that of the token family that bought it.
    public let signIn: SignIn
    /// How it was opened.
    public let origin: Origin
    /// The path of the token family that bought it, if one did.
    public let buyer: TokenFamily.Path?
    package let isRemembered: Bool
    /// Whether it was bought for a client whose web views may show the account page.
    public let showsAccount: Bool
    /// How often its secret had been renewed when its cookie was read. The next renewal ends what that cookie may do.
    public let renewals: Int64
    let seenAt: Timestamp
    public let createdAt: Timestamp

    public enum Origin: Sendable, Equatable {
        /// The user signed in here.
        case signIn
        /// Bought by a session code, with a token of a client of this merchant, and valid for that merchant only.
        case bought(merchant: Merchant.ID?)
        /// Asserted by an issuer of this merchant, and valid for that merchant only.
        case asserted(merchant: Merchant.ID)

        /// A session bought with a merchant's token, or asserted by its issuer, is no sign-in for another merchant's
        /// client. Otherwise any merchant could impersonate users elsewhere.
        public func isGood(for client: Client) -> Bool {
            switch self {
            case .signIn: true
            case .bought(let merchant): Merchant.same(merchant, client.merchant)
            case .asserted(let merchant): merchant == client.merchant
            }
        }
    }

    /// Ends after two hours without use, and after a week in any case.
    public static let idleLifetime: Duration = .hours(2)
    public static let longestLifetime: Duration = .days(7)
    /// For a user who wants to be remembered, counted from the sign-in, used or not.
    public static let rememberedLifetime: Duration = .days(365)
    /// How recent a sign-in must be for actions that an unattended screen must not allow.
    public static let recentLifetime: Duration = .minutes(10)

    /// Whether the user signed in here recently. A bought session is not a sign-in.
    public func isRecent(at now: Timestamp) -> Bool {
        origin == .signIn && now - signIn.at <= Self.recentLifetime
    }

    /// A new session, before it is stored.
    public struct Opening: Sendable {
        public let id: ID
        let secret: Secret<Session>
        package let device: Secret<Device>?
        package let userAgent: String
        package let address: String
        /// How its user signs in.
        package private(set) var method: SignIn.Method
        /// The user's answer to being remembered; nil if not asked, which keeps the setting of the session it replaces.
        package internal(set) var isRemembered: Bool?
        package var client: Client.ID?
        package var assertedBy: AssertedBy?
        /// The id of the issuer whose word the user's decision followed, when it did not open the session itself.
        private var basis: String?
        /// When the sign-in began to count, if that is not when the session opens.
        private var since: Timestamp?
        /// The purchase that opened it, if it is a web view.
        package private(set) var purchase: Purchase?
        /// More work in the transaction that opens the session.
        package private(set) var work: (@Sendable (UserID, Timestamp, any Transaction) throws -> Void)?

        /// - Parameters: `device` is the mark by which this browser is recognised later. `client` is the client that
        ///   sent the user here, if one did.
        public init(
            id: ID, secret: Secret<Session>, device: Secret<Device>? = nil, userAgent: String, address: String,
            method: SignIn.Method, isRemembered: Bool? = nil, client: Client.ID? = nil
        ) {
            self.id = id
            self.secret = secret
            self.device = device
            // A browser's description of itself is shown to its user, and never trusted.
            self.userAgent = String(userAgent.filter { !$0.isNewline }).prefix(bytes: 200)
            self.address = address
            self.method = method
            self.isRemembered = isRemembered
            self.client = client
        }

        /// A web view, which a token bought.
        public init(
            id: ID, secret: Secret<Session>, userAgent: String, address: String, for client: Client.ID,
            boughtBy purchase: Purchase
        ) {
            self.init(
                id: id, secret: secret, userAgent: userAgent, address: address, method: purchase.signIn.method,
                client: client)
            self.purchase = purchase
        }

        /// The same, resting while the issuer with the id `issuer` is disabled, and ending with it.
        package func resting(on issuer: String?) -> Opening {
            var opening = self
            opening.basis = issuer
            return opening
        }

        /// The same, with more `work` in its transaction.
        public func doing(
            _ work: (@Sendable (UserID, Timestamp, any Transaction) throws -> Void)?
        ) -> Opening {
            var opening = self
            opening.work = work
            return opening
        }

        /// The same, with another method, which counts from `time`.
        package func by(_ method: SignIn.Method, since time: Timestamp? = nil) -> Opening {
            var opening = self
            opening.method = method
            opening.since = time
            return opening
        }

        /// The sign-in of its user; for a web view, that of the token family that bought it.
        func signIn(at now: Timestamp) -> SignIn {
            purchase?.signIn
                ?? SignIn(
                    at: assertedBy?.signedInAt ?? since ?? now, by: method,
                    isDated: method != .issuer || assertedBy?.signedInAt != nil, issuer: assertedBy?.issuer ?? basis)
        }

        /// When it ends unless it is used.
        func expiry(from now: Timestamp) -> Timestamp {
            now + (isRemembered == true ? Session.rememberedLifetime : Session.idleLifetime)
        }
    }
}

extension Session {
    /// What bought a web view: a token of a family, which stands for its user's sign-in.
    public struct Purchase: Sendable {
        package let path: TokenFamily.Path
        /// The client of the token.
        package let client: Client.ID
        package let signIn: SignIn

        public init(by client: Client.ID, path: TokenFamily.Path, signIn: SignIn) {
            self.path = path
            self.client = client
            self.signIn = signIn
        }
    }
}

/// A browser that has been signed in to before.
public enum Device {}
