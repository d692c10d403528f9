public import Cryptography
public import JSON

/// A JWS in compact form (RFC 7515 §7.1), signed by us.
public enum CompactJWS {
    /// Signs `payload`. The header has `type` (`at+jwt`, `JWT`, …) and the key id; `alg` is always the key's own.
    public static func sign(_ payload: JSON, type: String, key: PrivateKey, keyID: String) -> String {
        let header: JSON = .members([
            "alg": .string(key.algorithm.rawValue), "typ": .string(type), "kid": .string(keyID),
        ])
        return signed(header, payload, by: key.sign)
    }

    /// Signs `payload` with a shared secret, by HS256: `secret` must have 32 bytes (RFC 7518 §3.2).
    public static func sign(_ payload: JSON, type: String, secret: [UInt8]) -> String {
        signed(.members(["alg": "HS256", "typ": .string(type)]), payload) { Digest.hmacSHA256($0, key: secret) }
    }

    private static func signed(_ header: JSON, _ payload: JSON, by sign: ([UInt8]) -> [UInt8]) -> String {
        let payload = payload.bytes
        var text: [UInt8] = []
        text.reserveCapacity(payload.count * 4 / 3 + 640)
        Base64URL.append(header.bytes, to: &text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(payload, to: &text)
        let signature = sign(text)
        text.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The header of `text`. The signature is not checked.
    public static func header(of text: String) -> JSON? { part(0, of: text) }

    /// The key id in the header of `text`. The signature is not checked.
    public static func keyID(of text: String) -> String? { header(of: text)?["kid"]?.string }

    /// The claims of `text`, whose signature is not checked: only for finding the key that verifies it.
    public static func unverifiedClaims(of text: String) -> JSON? { part(1, of: text) }

    private static func part(_ index: Int, of text: String) -> JSON? {
        guard text.utf8.count <= SignedJWT.longest else { return nil }
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[index]) else { return nil }
        return try? JSON(parsing: bytes)
    }

    /// Whether `text` has the form of a JWS: a header that is a JSON object, and two more parts in base64url.
    public static func isOne(_ text: String) -> Bool {
        guard text.utf8.count <= 64 * 1024 else { return false }
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), Base64URL.decode(parts[1]) != nil,
            Base64URL.decode(parts[2]) != nil
        else { return false }
        return (try? JSON(parsing: header))?.members != nil
    }
}
