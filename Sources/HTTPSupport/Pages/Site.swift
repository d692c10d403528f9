package import OAuth
import Values

/// The public names of this server: the issuer, verbatim, and what follows from it.
public struct Site: Sendable {
    public enum SameSite: String, Sendable {
        case lax = "Lax"
        /// For web apps on other sites that ask for the session; needs https.
        case none = "None"
    }

    public let issuer: String
    /// Scheme, host and port, as browsers write them in `Origin`: the base of every endpoint.
    public let origin: String
    public let sameSite: SameSite
    /// Whether self-registered clients may get access tokens in an authorization response (RFC 9700 §2.1.2).
    public let allowsUnsafeTokens: Bool
    package var isSecure: Bool { origin.hasPrefix("https://") }

    public init(issuer: String, origin: String, sameSite: SameSite = .lax, allowsUnsafeTokens: Bool = false) {
        self.issuer = issuer
        self.origin = origin
        self.sameSite = sameSite
        self.allowsUnsafeTokens = allowsUnsafeTokens
    }

    /// The host, as browsers write it in `Host`.
    package var host: String { origin.firstRange(of: "://").map { String(origin[$0.upperBound...]) } ?? origin }
    /// The host where SPiD's SDK for JavaScript first asks for the session. No browser has a cookie for it.
    package var hostWithoutSession: String { "session." + host }

    /// The issuer's path, without a trailing slash: empty for most.
    package var issuerPath: String {
        let rest = issuer.firstRange(of: "://").map { issuer[$0.upperBound...] } ?? issuer[...]
        let path = rest.drop { $0 != "/" }
        return String(path.hasSuffix("/") ? path.dropLast() : path)
    }

    /// The paths of the token endpoint. The first is its name for clients, the other SPiD's.
    package static let tokenPaths = ["/oauth/token", "/api/2/oauth/token"]
    /// The URL of the token endpoint, for clients.
    public var tokenEndpoint: String { tokenEndpoints[0] }
    /// All its URLs: an assertion may name any of them as its audience.
    public var tokenEndpoints: [String] { Self.tokenPaths.map { origin + $0 } }
}

/// The paths of pages that responses and mails of more than one surface link to.
package enum PagePath {
    package static let authorize = "/oauth/authorize"
    /// The path where an interaction continues.
    package static func authorize(_ interaction: Interaction.ID) -> String {
        "\(authorize)?continue=\(interaction.value)"
    }

    package static let account = "/account"
    package static let forgottenPassword = "/password"
    /// The way back to the app that signed a user up.
    package static let appReturn = "/signup/return"

    /// Where the holder of a mailed `link` chooses a password.
    package static func newPassword(_ link: String) -> String { "\(forgottenPassword)/reset/\(link)" }

    /// Where the holder of a mailed `link` confirms the address that an app signed up with.
    package static func confirmAddress(_ link: String) -> String { "/signup/address/\(link)" }
}
