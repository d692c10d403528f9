import Cryptography
package import JOSE
public import JSON
public import Keys
import Values

/// The key with which a client and the server sign messages to each other, as SPiD does.
public struct SignSecret: Sendable {
    private let key: [UInt8]

    public init(_ text: String) { key = Array(text.utf8) }

    /// The two parts of a signed message, both base64url without padding.
    public struct Signed: Sendable {
        public let payload: String
        public let signature: String
        /// SPiD's signed request.
        public var request: String { signature + "." + payload }
    }

    /// Signs the encoded payload.
    public func signed(_ json: JSON) -> Signed {
        let payload = Base64URL.encode(json.bytes)
        return Signed(payload: payload, signature: signature(of: payload))
    }

    /// A JWT of `claims`, signed by HS256, with `type` in its header (RFC 8725 §3.11).
    public func sign(_ claims: JSON, type: String) -> String { CompactJWS.sign(claims, type: type, secret: key) }

    private func signature(of text: String) -> String {
        Base64URL.encode(Digest.hmacSHA256(Array(text.utf8), key: key))
    }

    /// No real client signs more parameters. Hashing a longer request would cost too much time.
    public static let mostHashed = 1000

    /// Whether `hash` is SPiD's verified hash of `pairs`: of their values, in the natural order of their names.
    public func isHash(_ hash: String, of pairs: [(name: String, value: String)]) -> Bool {
        guard pairs.count <= Self.mostHashed else { return false }
        return HashedParameters.texts(of: pairs).contains { text in
            constantTimeEqual(Array(hash.utf8), Array(signature(of: text).utf8))
        }
    }

    /// Whether `signature` is the base64url HMAC-SHA256 of `text`: HS256 as in RFC 7515 (§A.1).
    public func isSignature(_ signature: String, of text: [UInt8]) -> Bool {
        let expected = Base64URL.encode(Digest.hmacSHA256(text, key: key))
        return constantTimeEqual(Array(signature.utf8), Array(expected.utf8))
    }

    /// Whether `signature` is the lowercase hexadecimal HMAC-SHA256 of `text`, as SPiD's apps sign their assertions.
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

    /// The key that verifies the HMACs of a client that signs with its sign secret.
    package func keys(of client: Client) throws -> AssertionKeys {
        AssertionKeys(secret: try seal.open(client.sealedSignSecret, .signSecret, row: client.id.text))
    }
}
