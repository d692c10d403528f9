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
    var isSecure: Bool { origin.hasPrefix("https://") }

    public init(issuer: String, origin: String, sameSite: SameSite = .lax) {
        self.issuer = issuer
        self.origin = origin
        self.sameSite = sameSite
    }

    /// The issuer's path, without a slash at its end: `` for most.
    var issuerPath: String {
        let path = String(issuer.dropFirst(origin.count))
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Where assertions and clients find the token endpoint.
    public var tokenEndpoint: String { origin + "/oauth/token" }
    /// What a client may call us in what it signs to prove itself (RFC 7523 §3): many take the address they send it to.
    public var clientAudiences: [String] {
        [issuer, tokenEndpoint, origin + "/oauth/introspect", origin + "/oauth/revoke"]
    }
}
