import Cryptography
import Directory
import JSON
import OAuth
import Values

/// A provider's access token in a JWT that an app signed with its client's sign secret, as SPiD's SDKs send it.
///
/// It has no `jti`, and an SDK sends the same bytes again at each sign-in while the provider's token lives, so it may
/// be used more than once. It ends with `exp`, and with the provider's token, which is checked with the provider each
/// time. Using one again also takes the client's credentials.
struct ProviderAssertion: Sendable {
    /// What the app requests: `sub`.
    enum Purpose: String, Sendable {
        case authorization, registration, attach
    }

    /// A provider's access token.
    enum Token {}

    /// In bytes: a provider's token may have a few thousand.
    static let longest = 16 * 1024
    static let longestToken = 4096

    let provider: Provider
    /// What the app calls itself: `iss`.
    let issuer: String
    let purpose: Purpose
    let audience: String
    let expiresAt: Timestamp
    let token: Secret<Token>

    /// Whether `text` claims to be one. Nothing in it is verified.
    static func isMeant(by text: String) -> Bool {
        guard text.utf8.count <= longest, let parts = ProviderAssertionParts(text) else { return false }
        return parts.claims["token_type"] != nil && parts.claims["token_value"] != nil
    }

    /// Verifies the signature of `text` with `secret`, then reads its claims.
    init(_ text: String, signedWith secret: SignSecret) throws(OAuthError) {
        guard text.utf8.count <= Self.longest, let parts = ProviderAssertionParts(text) else {
            throw .providerAssertionMalformed
        }
        // RFC 8725 §3.1: we choose the algorithm; the header may only agree.
        guard parts.header["alg"]?.string == "HS256" else { throw .providerAssertionAlgorithm }
        guard parts.header["typ"].map({ $0 == "JWT" }) ?? true, parts.header["crit"] == nil else {
            throw .providerAssertionAlgorithm
        }
        guard
            secret.isHexSignature(parts.signature, of: parts.signedBytes)
                || secret.isSignature(parts.signature, of: parts.signedBytes)
        else { throw .providerAssertionSignature }

        let claims = parts.claims
        guard let provider = claims["token_type"]?.string.flatMap(Provider.init(tokenType:)) else {
            throw .providerAssertionTokenType
        }
        guard let token = claims["token_value"]?.string, Self.isToken(token) else { throw .providerAssertionToken }
        guard let issuer = claims["iss"]?.string, (1...200).contains(issuer.utf8.count) else {
            throw .providerAssertionIssuer
        }
        guard let purpose = claims["sub"]?.string.flatMap(Purpose.init) else { throw .providerAssertionPurpose }
        guard let audience = claims["aud"]?.string else { throw .providerAssertionAudience(nil) }
        guard let expiresAt = claims["exp"].flatMap(Timestamp.init(expiry:)) else { throw .providerAssertionExpiry }
        self.provider = provider
        self.issuer = issuer
        self.purpose = purpose
        self.audience = audience
        self.expiresAt = expiresAt
        self.token = Secret(token)
    }

    private static func isToken(_ text: String) -> Bool {
        (1...longestToken).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// The three parts of a JWT as SPiD's SDKs or RFC 7515 write them.
struct ProviderAssertionParts {
    let header: JSON
    let claims: JSON
    /// The signed bytes: header and claims as they came, line feeds included.
    let signedBytes: [UInt8]
    let signature: String

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]),
            header.members != nil, claims.members != nil
        else { return nil }
        self.header = header
        self.claims = claims
        signedBytes = Array(text.utf8.prefix(text.utf8.count - parts[2].utf8.count - 1))
        signature = String(parts[2])
    }

    /// Reads base64url without padding, or padded base64, perhaps with a line feed every 76 characters (RFC 2045 §6.8).
    private static func decode(_ part: Substring) -> JSON? {
        (Base64URL.decode(part) ?? mimeBase64(part)).flatMap { try? JSON(parsing: $0) }
    }

    private static func mimeBase64(_ part: Substring) -> [UInt8]? {
        var letters = part.utf8.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard letters.count.isMultiple(of: 4),
            !letters.contains(UInt8(ascii: "-")), !letters.contains(UInt8(ascii: "_"))
        else { return nil }
        for _ in 1...2 where letters.last == UInt8(ascii: "=") { letters.removeLast() }
        let url = letters.map { letter in
            switch letter {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: letter
            }
        }
        return Base64URL.decode(String(decoding: url, as: UTF8.self))
    }
}
