import Cryptography
package import JOSE
import JSON

/// The public keys that a client registered by value (`jwks`).
///
/// Untrusted clients choose these keys and make the server try them, so they are few and none is slow. They are parsed
/// once per client, not per signature.
public struct RegisteredKeySet: Sendable, Equatable {
    /// The text as it was registered and is stored.
    let text: String
    package let keys: AssertionKeys

    private static let longest = 16 * 1024
    private static let most = 20
    private static let strongestRSA = AssertionKeys.longestQuickModulus

    /// A stored set may have no usable key, because the rules became stricter since. It verifies nothing.
    init(_ json: JSON, isStored: Bool) throws(JSONFault) {
        let listed = json["keys"]?.array ?? []
        text = json.text
        guard listed.count <= Self.most, text.utf8.count <= Self.longest else {
            throw JSONFault("jwks", "of at most \(Self.most) keys and \(Self.longest) bytes")
        }
        guard listed.allSatisfy({ Self.bits(of: $0) <= Self.strongestRSA }) else {
            throw JSONFault("jwks", "without RSA keys of more than \(Self.strongestRSA) bits")
        }
        if isStored, let keys = try? AssertionKeys(keySet: text) {
            self.keys = keys
        } else {
            keys = try AssertionKeys(registering: json)
        }
    }

    public static func == (a: RegisteredKeySet, b: RegisteredKeySet) -> Bool { a.text == b.text }

    /// The length of an RSA modulus; 0 for other keys.
    private static func bits(of key: JSON) -> Int {
        guard key["kty"] == "RSA", let modulus = key["n"]?.string.flatMap({ Base64URL.decode($0) }) else { return 0 }
        let significant = modulus.drop { $0 == 0 }
        return significant.count * 8 - (significant.first?.leadingZeroBitCount ?? 0)
    }
}
