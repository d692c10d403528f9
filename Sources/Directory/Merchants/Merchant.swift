public import Values

/// A company: the owner of clients.
public struct Merchant: Sendable {
    public typealias ID = Identifier<Merchant>

    /// The longest name, in bytes of UTF-8.
    static let longestName = 200

    public let id: ID
    /// Its number in SPiD's API; nil until `Merchants` has given it one.
    public internal(set) var number: Int64?
    public var name: String
    /// Whether a device's logout also ends the tokens that backends redeemed from its codes.
    public var logoutReachesBackends: Bool
    /// Whether its clients need no introduction to users, because it belongs to the platform.
    public var skipsIntroduction: Bool
    /// The https URL of an image that its pages show.
    public var logoURI: String?
    /// The accent color of its pages, as `#rrggbb`.
    public var accentColor: String?
    /// Its own texts for the mails that its clients cause; nil for ours.
    public var mailTexts: MailTexts?
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    public var disabledAt: Timestamp?

    /// Whether two clients share a merchant. Clients without a merchant never do.
    public static func same(_ a: ID?, _ b: ID?) -> Bool {
        guard let a, let b else { return false }
        return a == b
    }
}
