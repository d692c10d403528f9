import JSON
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
    /// Where its events are pushed as signed tokens (RFC 8935).
    public var eventsURI: String?
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

/// The look of a merchant's pages.
extension Merchant {
    /// An https URL; null removes it.
    static func logoURI(_ members: JSONMembers, _ base: Merchant?) throws(JSONFault) -> String? {
        guard members.has("logo_uri") else { return base?.logoURI }
        guard let text = try members.text("logo_uri", most: 1000) else { return nil }
        guard WebOrigin.isImage(text) else { throw JSONFault("logo_uri", "an https URL, or null") }
        return text
    }

    /// An https URL, or an http one to this machine; null removes it.
    static func eventsURI(_ members: JSONMembers, _ base: Merchant?) throws(JSONFault) -> String? {
        guard members.has("events_uri") else { return base?.eventsURI }
        guard let text = try members.text("events_uri", most: 1000) else { return nil }
        guard let uri = RedirectURI(registering: text), uri.isOfWeb else {
            throw JSONFault("events_uri", "an https URL, or an http one to this machine, or null")
        }
        return text
    }

    /// `#rrggbb`; null removes it.
    static func accentColor(_ members: JSONMembers, _ base: Merchant?) throws(JSONFault) -> String? {
        guard members.has("accent_color") else { return base?.accentColor }
        guard let text = try members.text("accent_color") else { return nil }
        guard text.wholeMatch(of: /#[0-9a-fA-F]{6}/) != nil else {
            throw JSONFault("accent_color", "a colour as #rrggbb, or null")
        }
        return text.lowercased()
    }
}
