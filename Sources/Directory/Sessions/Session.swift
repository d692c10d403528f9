public import Storage
public import Values

/// A user signed in to a browser or a webview.
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
    package let isRemembered: Bool
    /// Whether it was bought for a SPiD-compatible client, whose web views show the account page.
    public let isOfSPiDWebView: Bool
    /// How often it had got another secret when its cookie was shown. What that cookie may do ends with the next one.
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
    }

    /// How the user authenticated: an authentication method reference (RFC 8176), except `token`.
    public enum Method: String, Sendable {
        case password = "pwd"
        /// A code or a link sent to the user's address.
        case mail = "otp"
        /// A code sent to the user's phone.
        case text = "sms"
        /// An access token of a phone.
        case token
        /// An assertion of another issuer that says when the user signed in there.
        case issuer
        /// The same without a time: it may have been long ago.
        case issuerUndated = "issuer_undated"
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
        /// What the user answered; nil, where nobody asked, to go on as the session that it takes the place of.
        package internal(set) var isRemembered: Bool?
        package var client: Client.ID?
        package var buyer: Client.ID?
        /// The fingerprint of the access token that bought it.
        package private(set) var token: String?
        package var assertedBy: AssertedBy?
        /// The id of the issuer that the session rests on, where it asserted something else: the sign-in that a token
        /// comes from, or that the user decided after.
        private var basis: String?
        /// The id of the issuer that the session rests on.
        var issuer: String? { assertedBy?.issuer ?? basis }
        /// More work in the transaction that opens the session.
        package var also: (@Sendable (UserID, Timestamp, any Transaction) throws -> Void)?

        /// - Parameters:
        ///   - device: the mark by which this browser is recognised later.
        ///   - client: the client that led the user here, if one did.
        public init(
            id: ID, secret: Secret<Session>, device: Secret<Device>? = nil, userAgent: String, address: String,
            method: Method, isRemembered: Bool? = nil, client: Client.ID? = nil
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

        /// The same, for `client`, with the token of `buyer` that has the fingerprint `token`, for whose sign-in
        /// `issuer` vouched, if one did; `isDated`: it is known when that was.
        public func at(
            _ client: Client.ID, boughtBy buyer: Client.ID, with token: String?, issuer: String?, isDated: Bool
        ) -> Opening {
            var opening = isDated ? self : by(.issuerUndated)
            opening.client = client
            opening.buyer = buyer
            opening.token = token
            return opening.resting(on: issuer)
        }

        /// The same, which rests while the issuer with the id `issuer` is disabled, and ends with it.
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
            opening.also = work
            return opening
        }

        /// The same, with another method.
        package func by(_ method: Method) -> Opening {
            var opening = self
            opening.method = method
            return opening
        }

        /// When it ends unless it is used.
        func expiry(from now: Timestamp) -> Timestamp {
            now + (isRemembered == true ? Session.rememberedLifetime : Session.idleLifetime)
        }
    }
}

/// A browser that has been signed in to before.
public enum Device {}
