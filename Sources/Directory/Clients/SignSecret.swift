import Cryptography
package import JOSE
public import JSON
public import Keys
import Values

/// The key that a client and we sign messages to one another with, as SPiD does.
public struct SignSecret: Sendable {
    private let key: [UInt8]

    public init(_ text: String) { key = Array(text.utf8) }

    /// A signed message in its two halves, both base64url without padding.
    public struct Signed: Sendable {
        public let payload: String
        public let signature: String
        /// SPiD's signed request.
        public var request: String { signature + "." + payload }
    }

    /// The signature is over the encoded payload.
    public func signed(_ json: JSON) -> Signed {
        let payload = Base64URL.encode(json.bytes)
        return Signed(payload: payload, signature: signature(of: payload))
    }

    private func signature(of text: String) -> String {
        Base64URL.encode(Digest.hmacSHA256(Array(text.utf8), key: key))
    }

    /// Nobody signs more parameters; whoever sends more wants to be waited for.
    public static let mostHashed = 1000

    /// Whether `hash` is SPiD's verified hash of `pairs`: of their values, in the natural order of their names.
    public func isHash(_ hash: String, of pairs: [(name: String, value: String)]) -> Bool {
        guard pairs.count <= Self.mostHashed else { return false }
        return HashedParameters.texts(of: pairs).contains { text in
            constantTimeEqual(Array(hash.utf8), Array(signature(of: text).utf8))
        }
    }

    /// The base64url HMAC-SHA256 of `text`: HS256 as RFC 7515 has it (§A.1).
    public func isSignature(_ signature: String, of text: [UInt8]) -> Bool {
        let expected = Base64URL.encode(Digest.hmacSHA256(text, key: key))
        return constantTimeEqual(Array(signature.utf8), Array(expected.utf8))
    }

    /// The lowercase hexadecimal HMAC-SHA256 of `text`, as SPiD's apps sign their assertions.
    public func isHexSignature(_ signature: String, of text: [UInt8]) -> Bool {
        let digest = Digest.hmacSHA256(text, key: key)
        let digits = Hexadecimal.encode(digest)
        return constantTimeEqual(Array(signature.utf8), Array(digits.utf8))
    }
}

/// Opens the sign secrets of clients.
public struct SignSecrets: Sendable {
    private let seal: Seal

    public init(seal: Seal) { self.seal = seal }

    public func open(_ client: Client) throws -> SignSecret {
        SignSecret(try seal.open(client.sealedSignSecret, .signSecret, row: client.id.text))
    }

    /// What a client verifies as its own that signs with it by HMAC.
    package func keys(of client: Client) throws -> AssertionKeys {
        AssertionKeys(secret: try seal.open(client.sealedSignSecret, .signSecret, row: client.id.text))
    }
}
