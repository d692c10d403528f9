public import Directory
public import Values

/// An authorization request that needs the user: the request, the browser it began in, and what the user of one session
/// has answered since.
///
/// Pages carry its id and nothing else. The id alone is not enough: only the browser that the row is bound to may
/// continue.
public struct Interaction: Sendable {
    /// 256 random bits after the time. Only the fingerprint is stored.
    public typealias ID = Secret<Interaction>

    /// A browser, known by the cookie of its forms.
    public enum Browser {}

    /// How long a user may take after each step, unless a mail links back to the interaction and may be read later.
    /// Longer than an idle session lives, so that a user who was signed out meanwhile can sign in again.
    public static let lifetime: Duration = .hours(3)
    /// How long it lives at most, however many steps are taken, unless a mail links back to it.
    public static let longestLifetime: Duration = .hours(24)
    /// How long it waits for the first step in a browser without a session. Anyone can begin one, so this is shorter.
    public static let untouchedLifetime: Duration = .hours(1)
    public let id: ID
    /// The client that made the request.
    public let client: Client.ID
    /// The original parameters, as a query. The same parser reads them again whenever the request continues.
    public let request: String
    /// Nil until a browser takes it up.
    public internal(set) var browser: Fingerprint<Browser>?
    /// Whether the user said that they are not the hinted user.
    let isByAnotherUser: Bool
    /// Whether consent must be asked for in any case, because the user who answered is not the user who was asked.
    let asksConsent: Bool
    /// The session that was answered in, if any: the fingerprint of its cookie, which the next sign-in replaces.
    package let answeredIn: Fingerprint<Session>?
    package let answers: InteractionAnswers
    let expiresAt: Timestamp

    /// The answers that count in `session`. Those of another user, or from before the user's last sign-in, do not.
    public func answers(in session: Fingerprint<Session>?) -> InteractionAnswers {
        guard let session, session == answeredIn else { return .none }
        return answers
    }

    /// Whether it must be reset for another user.
    var mayPassOn: Bool { !isByAnotherUser || answeredIn != nil }

    /// Whether it belongs to `browser`.
    public func isOf(_ browser: Fingerprint<Browser>?) -> Bool {
        guard let browser, let own = self.browser else { return false }
        return own.matches(browser)
    }
}

extension Interaction.ID {
    /// Reads the id in a page or an address; nil for text that cannot be one.
    public init?(carried text: String?) {
        guard let text, text.utf8.count == 55,
            text.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            })
        else { return nil }
        self.init(text)
    }
}
