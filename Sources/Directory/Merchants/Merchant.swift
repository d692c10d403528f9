public import Values

/// A company: the owner of clients.
public struct Merchant: Sendable {
    public typealias ID = Identifier<Merchant>

    public let id: ID
    public var name: String
    /// Whether a device's logout also ends what backends redeemed from its codes.
    public var logoutReachesBackends: Bool
    /// Whether its own clients need no introduction to people: the platform's word that it is the platform's own.
    public var skipsIntroduction: Bool
    /// An https URL of an image that its pages show.
    public var logoURI: String?
    /// `#rrggbb`.
    public var accentColor: String?
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    public var disabledAt: Timestamp?

    /// The one meaning of "the same merchant". What belongs to no merchant is never of the same one.
    public static func same(_ a: ID?, _ b: ID?) -> Bool {
        guard let a, let b else { return false }
        return a == b
    }
}
