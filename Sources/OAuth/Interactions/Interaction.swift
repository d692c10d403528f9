public import Directory
public import Values

/// An authorization request that meets a person: what was asked, the browser it began in, and what was done since.
///
/// Pages carry its id and nothing else. The id alone opens nothing: only the browser that the row is bound to may go on
/// with it.
public struct Interaction: Sendable {
    /// 256 random bits after the time, of which the fingerprint is kept.
    public typealias ID = Secret<Interaction>

    /// A browser, known by the cookie of its forms.
    public enum Browser {}

    /// How long a person may take, unless a mail that leads back to it may be read later: longer than a session that nobody
    /// uses, so that who was signed out meanwhile signs in again.
    public static let lifetime: Duration = .hours(3)
    /// How many one browser may have open; the oldest gives way.
    public static let mostOfBrowser: Int64 = 32

    public let id: ID
    /// The client that asked.
    public let client: Client.ID
    /// The parameters as they came, as a query. They are read again, by the same reader, whenever the request goes on.
    public let request: String
    /// Nil until a browser takes it up.
    public internal(set) var browser: Fingerprint<Browser>?
    public let progress: InteractionProgress
    let expiresAt: Timestamp

    /// Whether it began in `browser`.
    public func isOf(_ browser: Fingerprint<Browser>?) -> Bool {
        guard let browser, let own = self.browser else { return false }
        return own.matches(browser)
    }
}

extension Interaction.ID {
    /// The id that a page or an address carries; nil for a text that cannot be one.
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
