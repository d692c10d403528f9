import Cryptography
package import JOSE
import JSON

/// The public keys that a client registered by value (`jwks`).
///
/// Untrusted clients choose these keys and make the server try them, so there are few and none is slow. They are parsed
/// once with the client, not with each signature.
public struct RegisteredKeySet: Sendable, Equatable {
    /// The text as it was registered and is stored.
    let text: String
    package let keys: AssertionKeys

    private static let longest = 16 * 1024
    private static let most = 20
    private static let strongestRSA = AssertionKeys.longestQuickModulus

    /// The private members of a JWK (RFC 7518 §6).
    private static let secrets: Set = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// A stored set may have no usable key: the rules became stricter after it was registered. It verifies nothing.
    init(_ json: JSON, isStored: Bool) throws(JSONFault) {
        let listed = json["keys"]?.array ?? []
        // A private key that was pasted by mistake must not be stored.
        guard !listed.flatMap({ $0.members ?? [] }).contains(where: { Self.secrets.contains($0.name) }) else {
            throw JSONFault("jwks", "a set of public keys only; it holds a private or symmetric one")
        }
        text = json.text
        guard listed.count <= Self.most, text.utf8.count <= Self.longest else {
            throw JSONFault("jwks", "of at most \(Self.most) keys and \(Self.longest) bytes")
        }
        guard listed.allSatisfy({ Self.bits(of: $0) <= Self.strongestRSA }) else {
            throw JSONFault("jwks", "without RSA keys of more than \(Self.strongestRSA) bits")
        }
        guard let keys = try? AssertionKeys(keySet: text), isStored || !keys.isEmpty else {
            throw JSONFault(
                "jwks",
                "a JWK set with a public key for signatures: RSA of 2048 bits or more with the exponent AQAB, "
                    + "EC P-256, P-384 or P-521, or Ed25519")
        }
        self.keys = keys
    }

    public static func == (a: RegisteredKeySet, b: RegisteredKeySet) -> Bool { a.text == b.text }

    /// The length of an RSA modulus; 0 for other keys.
    private static func bits(of key: JSON) -> Int {
        guard key["kty"] == "RSA", let modulus = key["n"]?.string.flatMap({ Base64URL.decode($0) }) else { return 0 }
        let significant = modulus.drop { $0 == 0 }
        return significant.count * 8 - (significant.first?.leadingZeroBitCount ?? 0)
    }
}
