/// Whose token a call of SPiD's API takes, and which clients may make it.
package struct CallAccess: Sendable {
    package enum Token: Sendable {
        /// None: a token that comes along is not read.
        case unread
        /// None is needed: a token that comes along is read.
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
        /// The merchant's own clients, and SPiD-compatible ones.
        case usual
        /// Every client of the merchant.
        case everyClient
        /// Every client, also a third party's and a pairwise one: the call ends the token.
        case everyToken
    }

    package let token: Token
    package let reach: Reach
    /// Whether an app may call by a token of its own: its secret is in each copy of it (RFC 8252 §8.5), so what that
    /// token reaches is anybody's.
    package let isForApps: Bool

    /// Whether a call takes from the allowance. To end a token must always be possible.
    package var isCounted: Bool { reach != .everyToken }

    package init(_ token: Token, _ reach: Reach = .usual, isForApps: Bool = false) {
        self.token = token
        self.reach = reach
        self.isForApps = isForApps
    }
}
