/// Which token a call of SPiD's API takes, and which clients may make it.
package struct CallAccess: Sendable {
    package enum Token: Sendable {
        /// No token: one that is sent is not read.
        case unread
        /// No token is needed: one that is sent is read.
        case optional
        /// A client's own.
        case client
        /// A user's.
        case user
        /// A client's own or a user's.
        case either

        /// SPiD's names for the kinds of token.
        package var spidNames: [String] {
            switch self {
            case .unread, .optional: []
            case .client: ["server"]
            case .user: ["user"]
            case .either: ["server", "user"]
            }
        }
    }

    /// Which clients may call, and with which tokens.
    package enum Reach: Sendable {
        /// First-party clients, and SPiD-compatible ones.
        case usual
        /// Every client of the merchant.
        case everyClient
        /// Every client, including third-party and pairwise ones: the call ends the token.
        case everyToken
    }

    package let token: Token
    package let reach: Reach
    /// Whether an app may call with a token of its own. Every copy of an app contains its secret (RFC 8252 §8.5), so
    /// anyone can get that token.
    package let isForApps: Bool

    /// Whether a call counts against the allowance. Ending a token must always be possible.
    package var isCounted: Bool { reach != .everyToken }

    package init(_ token: Token, _ reach: Reach = .usual, isForApps: Bool = false) {
        self.token = token
        self.reach = reach
        self.isForApps = isForApps
    }
}
