import Cryptography
public import Directory
import Storage
public import Values

/// A secret sent to an e-mail address or, as a text message, to a phone. Returning it proves that messages sent there
/// are read.
///
/// A link works in any browser. A code is short enough to be typed, so it works only in the browser that asked for it.
public struct Verification: Sendable {
    public typealias ID = Identifier<Verification>

    /// What the secret is for.
    public enum Purpose: String, Sendable, CaseIterable {
        case signUp = "sign_up"
        case signIn = "sign_in"
        case verifyEmail = "verify_email"
        case changeEmail = "change_email"
        case resetPassword = "reset_password"
        /// By a code sent to the user's verified phone number.
        case signInByPhone = "sign_in_phone"
        case verifyPhone = "verify_phone"
        /// An app signed up a user with this address.
        case confirmAddress = "confirm_address"
        /// No mail is sent: a user proved their identity and is about to be deleted.
        case restore

        /// How long a code can be typed; nil when the purpose has no code.
        public var codeLifetime: Duration? {
            switch self {
            case .signUp, .verifyEmail, .changeEmail: .minutes(30)
            case .signIn, .signInByPhone, .verifyPhone: .minutes(10)
            case .resetPassword, .confirmAddress, .restore: nil
            }
        }

        /// How long a link can be opened; nil when the purpose has no link.
        public var linkLifetime: Duration? {
            switch self {
            case .signUp, .resetPassword: .hours(24)
            case .confirmAddress: .days(7)
            case .signIn, .verifyEmail, .changeEmail, .signInByPhone, .verifyPhone, .restore: nil
            }
        }

        var lifetime: Duration { [codeLifetime, linkLifetime, .minutes(10)].compactMap { $0 }.max() ?? .zero }
    }

    /// How many codes may be typed. After that, even the right one is refused.
    public static let mostTries: Int64 = 5

    public let id: ID
    public let purpose: Purpose
    public let user: UserID?
    /// Empty for what is sent to a phone.
    public let email: String
    public let phone: PhoneNumber?
    /// The browser that asked for it.
    public let browser: Fingerprint<Browser>?
    /// Where the user continues: a page of this server, or the id of a waiting interaction. Empty for neither.
    public let continueTo: String
    /// The user that a waiting sign-up will create.
    public let newcomer: Newcomer?
    /// How a user signed in who must decide whether to cancel their deletion.
    let method: SignIn.Method?
    /// The id of the issuer that vouched for them, if one did.
    let issuer: String?
    public let createdAt: Timestamp
    public let expiresAt: Timestamp
    /// Whether it was taken before. The browser that took it may take it again, for the same outcome.
    public let wasTaken: Bool

    public struct Newcomer: Sendable {
        let passwordHash: String
        /// Profile claims, as JSON.
        let profile: String
        /// A note of the terms they agreed to, in the format of `Agreements`.
        let agreed: String
    }

    /// Where the secret was sent.
    public var recipient: String { phone?.text ?? email }

    /// Whether `browser` is the one that asked for it.
    public func isFrom(_ browser: Fingerprint<Browser>?) -> Bool {
        guard let browser, let own = self.browser else { return false }
        return own.matches(browser)
    }

    /// Why a returned secret is refused.
    public enum Refusal: Error, Sendable, Equatable {
        case unknown
        /// Used, expired, or tried too often.
        case gone(reason: String)
        case wrongCode(triesLeft: Int)
        /// Too many wrong codes were typed recently, in any browser.
        case tooMany(Duration)
    }
}

/// A browser, known by a cookie that says nothing about its user.
public enum Browser {}

extension Verification {
    /// Whether this is the first proof that the user's address is read by its owner. Must run in the transaction that
    /// marks the address as verified.
    func isFirstProof(in db: any Transaction) throws -> Bool {
        guard let user else { return false }
        return try !db.rows("SELECT id FROM users WHERE id = \(user) AND email_verified = 0").isEmpty
    }

    /// The event of a first proof. A link without a browser comes from a sign-up in an app, whose client the user
    /// knows; any other link's `continueTo` could be chosen by anyone.
    var takeover: UserEvent { .takenOver(signUp: browser == nil && !continueTo.isEmpty ? continueTo : nil) }
}

/// A code of six digits that a user reads in a mail and types.
enum OneTimeCode {
    static func random(from random: any RandomSource) -> String {
        // 64 bits modulo a million: no code is likelier than another by more than one in ten billion.
        let number = random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
        let digits = String(number)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The digits of the typed text: users copy spaces and hyphens along.
    static func digits(of text: String) -> String {
        String(text.prefix(40).filter { $0.isASCII && $0.isNumber })
    }
}
