/// How this server is known from outside: the issuer, verbatim, and what follows from it.
public struct Site: Sendable {
    public enum SameSite: String, Sendable {
        case lax = "Lax"
        /// For web apps of other sites that ask for the session; needs https.
        case none = "None"
    }

    public let issuer: String
    /// Scheme, host and port: the base of every endpoint.
    public let origin: String
    public let sameSite: SameSite
    /// Whether clients that registered themselves get access tokens with an authorization answer (RFC 9700 §2.1.2).
    public let allowsUnsafeTokens: Bool
    package var isSecure: Bool { origin.hasPrefix("https://") }

    public init(issuer: String, origin: String, sameSite: SameSite = .lax, allowsUnsafeTokens: Bool = false) {
        self.issuer = issuer
        self.origin = origin
        self.sameSite = sameSite
        self.allowsUnsafeTokens = allowsUnsafeTokens
    }

    /// The issuer's path, without a slash at its end: `` for most.
    package var issuerPath: String {
        let path = String(issuer.dropFirst(origin.count))
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Where assertions and clients find the token endpoint.
    public var tokenEndpoint: String { origin + "/oauth/token" }
}
