import JSON

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
