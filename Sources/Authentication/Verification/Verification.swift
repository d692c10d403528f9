import Directory
public import Values

/// A secret that went to somebody's e-mail address: whoever brings it back reads what is sent there.
///
/// A link works in any browser; a code, which is short enough to be typed, only in the browser that asked for it.
public struct Verification: Sendable {
    public typealias ID = Identifier<Verification>

    /// What the secret is good for.
    public enum Purpose: String, Sendable, CaseIterable {
        case signUp = "sign_up"
        case signIn = "sign_in"
        case verifyEmail = "verify_email"
        case changeEmail = "change_email"
        case resetPassword = "reset_password"
        /// An app signed somebody up with this address.
        case confirmAddress = "confirm_address"
        /// No mail: a password was right, and its account is about to be deleted.
        case restore

        /// How long a code can be typed; nil when there is none.
        public var codeLifetime: Duration? {
            switch self {
            case .signUp, .verifyEmail, .changeEmail: .minutes(30)
            case .signIn: .minutes(10)
            case .resetPassword, .confirmAddress, .restore: nil
            }
        }

        /// How long a link can be opened; nil when there is none.
        public var linkLifetime: Duration? {
            switch self {
            case .signUp, .resetPassword: .hours(24)
            case .confirmAddress: .days(7)
            case .signIn, .verifyEmail, .changeEmail, .restore: nil
            }
        }

        var lifetime: Duration { [codeLifetime, linkLifetime, .minutes(10)].compactMap { $0 }.max() ?? .zero }
    }

    /// How often a wrong code may be typed before the right one is of no use either.
    public static let mostTries: Int64 = 5

    public let id: ID
    public let purpose: Purpose
    public let user: UserID?
    public let email: String
    /// The browser that asked.
    public let browser: Fingerprint<Browser>?
    /// Where the person goes on: a page of ours, or the id of an app's request that waits. Empty for neither.
    public let continueTo: String
    /// What a sign-up that waits will become.
    public let newcomer: Newcomer?
    /// How somebody showed to be the account's person who is now asked whether to keep it.
    let method: Session.Method?
    public let createdAt: Timestamp
    public let expiresAt: Timestamp

    public struct Newcomer: Sendable {
        let passwordHash: String
        /// Profile claims, as JSON.
        let profile: String
        /// A note of what they agreed to, in the words of whoever keeps agreements.
        let agreed: String
    }

    /// Whether `browser` is the one that asked.
    public func isFrom(_ browser: Fingerprint<Browser>?) -> Bool {
        guard let browser, let own = self.browser else { return false }
        return own.matches(browser)
    }

    /// Why a secret that was brought back is good for nothing.
    public enum Refusal: Error, Sendable, Equatable {
        case unknown
        /// Used, too late, or tried too often.
        case gone(reason: String)
        case wrongCode(triesLeft: Int)
        /// Too many wrong ones were typed of late, here or elsewhere.
        case tooMany(Duration)
    }
}

/// A browser, known by a cookie of its own that says nothing about who uses it.
public enum Browser {}
