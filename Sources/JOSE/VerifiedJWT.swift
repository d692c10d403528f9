public import JSON
public import Values

/// A JWT with a verified signature. The caller must still check its times, issuer and audience.
public struct VerifiedJWT: Sendable {
    public let header: JSON
    public let claims: JSON
    /// Header and payload as they were signed. Remember this, not the whole token, to detect a second use: an ECDSA
    /// signature has a second form that also verifies.
    public let signedText: String

    public var issuer: String? { get throws(JWTRejection) { try text("iss") } }
    public var subject: String? { get throws(JWTRejection) { try text("sub") } }
    /// `jti`.
    public var identifier: String? { get throws(JWTRejection) { try text("jti") } }
    public var expiresAt: Timestamp? { get throws(JWTRejection) { try time("exp") } }
    public var notBefore: Timestamp? { get throws(JWTRejection) { try time("nbf") } }
    public var issuedAt: Timestamp? { get throws(JWTRejection) { try time("iat") } }
    /// `auth_time` (OpenID Connect Core §2).
    public var signedInAt: Timestamp? { get throws(JWTRejection) { try time("auth_time") } }

    /// One string or an array of them (RFC 7519 §4.1.3).
    public var audience: [String]? {
        get throws(JWTRejection) {
            guard let value = claims["aud"] else { return nil }
            if let one = value.string { return [one] }
            guard let many = value.strings else { throw .claim("aud") }
            return many
        }
    }

    /// Whether its `typ`, if it has one, is one of `types`, which are in lower case (RFC 8725 §3.11).
    public func isTyped(asOneOf types: [String]) -> Bool {
        header["typ"].map { types.contains($0.string?.lowercased() ?? "") } ?? true
    }

    private func text(_ name: String) throws(JWTRejection) -> String? {
        guard let value = claims[name] else { return nil }
        guard let text = value.string else { throw .claim(name) }
        return text
    }

    /// A NumericDate: seconds, perhaps with a fraction (RFC 7519 §2), between the years 1970 and 9999.
    private func time(_ name: String) throws(JWTRejection) -> Timestamp? {
        let seconds: Double
        switch claims[name] {
        case nil: return nil
        case .integer(let number): seconds = Double(number)
        case .number(let number): seconds = number
        default: throw .claim(name)
        }
        guard (0...253_402_300_799).contains(seconds) else { throw .claim(name) }
        return Timestamp(milliseconds: Int64(seconds * 1000))
    }
}
