import Glibc

/// What surrounds a page or a mail: its language, its brand, and the application that it is shown for.
public struct Frame: Sendable {
    public let language: Language
    public let brand: Brand?
    let application: Application?

    /// - Parameter brand: nil for pages of this server itself.
    public init(language: Language, brand: Brand? = nil, application: Application? = nil) {
        self.language = language
        self.brand = brand
        self.application = application
    }
}

/// The owner of the pages: the content of the header, and a stylesheet with the owner's colours.
public struct Brand: Sendable {
    public let name: String
    let logoURI: String?
    let stylesheet: String?

    /// - Parameter stylesheet: the path of `Stylesheet.brand(accent:)`.
    public init(name: String, logoURI: String? = nil, stylesheet: String? = nil) {
        self.name = name
        self.logoURI = logoURI
        self.stylesheet = stylesheet
    }
}

/// A colour of the sRGB space.
struct Colour {
    private let red, green, blue: UInt8

    /// - Parameter text: as `#rrggbb`.
    init?(_ text: String) {
        guard text.wholeMatch(of: /#[0-9a-fA-F]{6}/) != nil, let value = UInt32(text.dropFirst(), radix: 16) else {
            return nil
        }
        red = UInt8(value >> 16)
        green = UInt8(value >> 8 & 0xff)
        blue = UInt8(value & 0xff)
    }

    /// Black or white, whichever is easier to read on this; at worst 4.58 to 1.
    var contrasting: String {
        contrast(luminance: 0) > contrast(luminance: 1) ? "#000000" : "#ffffff"
    }

    /// WCAG 2.2, contrast ratio: 1 to 21.
    func contrast(with other: Colour) -> Double { contrast(luminance: other.luminance) }

    private func contrast(luminance other: Double) -> Double {
        (max(luminance, other) + 0.05) / (min(luminance, other) + 0.05)
    }

    /// WCAG 2.2, relative luminance: 0 is black, 1 is white.
    private var luminance: Double {
        0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }

    private static func linear(_ value: UInt8) -> Double {
        let share = Double(value) / 255
        return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
}

/// The public description of the application that sent the user here (OpenID Connect Registration §2).
public struct Application: Sendable {
    let name: String
    let logoURI: String?
    let policyURI: String?
    let termsURI: String?

    /// Nil for an application without anything to show.
    public init?(name: String, logoURI: String?, policyURI: String?, termsURI: String?) {
        guard logoURI != nil || policyURI != nil || termsURI != nil else { return nil }
        self.name = name
        self.logoURI = logoURI
        self.policyURI = policyURI
        self.termsURI = termsURI
    }
}

/// A hidden value of a form.
public struct HiddenField: Sendable {
    public let name: String
    public let value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// What a page gives its template besides its stored members.
protocol PageContents: Sendable {
    /// Why the last attempt was refused; a template sees it as `refusal`.
    var refusal: PageRefusal? { get }

    /// Texts that depend on the page's values. They hide members of the same name.
    func words(_ texts: Texts) -> [String: Any]
}

extension PageContents {
    var refusal: PageRefusal? { nil }

    func words(_ texts: Texts) -> [String: Any] {
        guard let refusal else { return [:] }
        return ["refusal": refusal.words(texts)]
    }
}

/// A link to terms that a user agrees to by a form. The form sends `uri` along as `terms`: what was shown.
public struct TermsLink: Sendable {
    let uri: String
    let owner: String?

    /// - Parameter owner: whose they are; nil means this server's.
    public init(uri: String, owner: String? = nil) {
        self.uri = uri
        self.owner = owner
    }

    var words: [String: Any] {
        var words: [String: Any] = ["uri": uri]
        words["owner"] = owner
        return words
    }
}
