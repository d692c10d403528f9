import Cryptography
public import JSON
public import Values

/// A received JWT, split and with its header read. Neither signature nor claims are checked yet.
struct SignedJWT {
    /// Far longer than any issuer's token.
    static let longest = 16 * 1024

    let header: JSON
    let algorithm: SignatureAlgorithm
    let keyID: String?
    let signedText: Substring
    let payload: [UInt8]
    let signature: [UInt8]

    init(_ token: String, allowed: Set<SignatureAlgorithm>) throws(JWTRejection) {
        guard token.utf8.count <= Self.longest else { throw .malformed }
        let parts = token.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]), let header = try? JSON(parsing: headerBytes),
            header.members != nil
        else { throw .malformed }
        guard let name = header["alg"]?.string, let algorithm = SignatureAlgorithm(rawValue: name),
            allowed.contains(algorithm)
        else { throw .algorithmNotAllowed }
        guard header["crit"] == nil else { throw .criticalExtension }
        if let keyID = header["kid"], keyID.string == nil { throw .malformed }

        self.header = header
        self.algorithm = algorithm
        self.keyID = header["kid"]?.string
        self.signedText = token[..<parts[1].endIndex]
        self.payload = payload
        self.signature = signature
    }

    /// Reads the claims, once the signature is verified.
    func verified() throws(JWTRejection) -> VerifiedJWT {
        guard let claims = try? JSON(parsing: payload), claims.members != nil else { throw .malformed }
        return VerifiedJWT(header: header, claims: claims, signedText: String(signedText))
    }
}

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

    /// Whether it names no client, or one of its audience. An access token names one that it is not for (RFC 9068
    /// §2.2), also where its `typ` does not show what it is.
    public var isForItsClient: Bool {
        guard let client = claims["client_id"] else { return true }
        return (try? audience)?.contains { client.string == $0 } ?? false
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

/// Why another issuer's JWT was rejected. For the log: it says what was wrong and contains nothing of the token.
public enum JWTRejection: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not three parts of canonical base64url, or a header or claims that are not a JSON object.
    case malformed
    /// `alg` is absent, `none`, unknown, or not allowed here.
    case algorithmNotAllowed
    /// The header has `crit`, and we support no extensions (RFC 7515 §4.1.11).
    case criticalExtension
    /// No key has the token's `kid`. The key set may have changed since it was read.
    case unknownKey
    /// There is a key, but for other algorithms.
    case algorithmOfAnotherKey
    /// Too many keys match: the token has no key id, or several keys share it.
    case tooManyKeys
    case badSignature
    /// The claim is of the wrong type or out of range.
    case claim(String)

    /// Whether a key that is not in the cached key set yet could verify `token`: its key id is unknown, or it has none.
    public func mayBeOfNewKey(_ token: String) -> Bool {
        switch self {
        case .unknownKey: true
        case .badSignature, .algorithmOfAnotherKey: CompactJWS.keyID(of: token) == nil
        case .malformed, .algorithmNotAllowed, .criticalExtension, .tooManyKeys, .claim: false
        }
    }

    public var description: String {
        switch self {
        case .malformed: "not a signed JWT"
        case .algorithmNotAllowed: "its signature algorithm is not allowed"
        case .criticalExtension: "it demands an extension"
        case .unknownKey: "no known key has its key id"
        case .algorithmOfAnotherKey: "its signature algorithm does not fit the key"
        case .tooManyKeys: "it has no key id, or one of several keys, and too many keys fit"
        case .badSignature: "its signature does not verify"
        case .claim(let name): "its claim \(name) is of the wrong type"
        }
    }
}
