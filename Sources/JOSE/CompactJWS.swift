public import Cryptography

/// A JWS in compact form (RFC 7515 §7.1), as we sign it.
public enum CompactJWS {
    /// Signs `payload`. The header says `type` (`at+jwt`, `JWT`, …) and the key; `alg` is the key's own, never a choice.
    public static func sign(_ payload: JSON, type: String, key: PrivateKey, keyID: String) -> String {
        let header = JSON.members([
            "alg": .string(key.algorithm.rawValue), "typ": .string(type), "kid": .string(keyID),
        ])
        let input = encode(header) + "." + encode(payload)
        return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
    }

    /// The key that the header of `text` names, whether or not it signed it.
    public static func keyID(of text: String) -> String? {
        let part = text.prefix { $0 != "." }
        guard part.utf8.count <= SignedJWT.longest, let bytes = Base64URL.decode(part) else { return nil }
        return (try? JSON(parsing: bytes))?["kid"]?.string
    }

    private static func encode(_ json: JSON) -> String { Base64URL.encode(Array(json.text.utf8)) }
}
