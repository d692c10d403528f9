public import Cryptography
public import JOSE
public import JSON
public import Values

/// A key that we sign tokens with.
public struct SigningKey: Sendable {
    public let privateKey: PrivateKey
    public let publicKey: JSONWebKey
    public let createdAt: Timestamp
    /// The time of its first signature. It is published from its creation on.
    public let signsFrom: Timestamp

    /// The `kid` in our tokens and in the JWK set.
    public var id: String { publicKey.keyID }
    var facts: KeyRotation.Key { KeyRotation.Key(id: id, algorithm: algorithm, signsFrom: signsFrom) }
    public var algorithm: PrivateKey.Algorithm { privateKey.algorithm }

    init(_ privateKey: PrivateKey, createdAt: Timestamp, signsFrom: Timestamp) {
        self.privateKey = privateKey
        self.publicKey = JSONWebKey(privateKey)
        self.createdAt = createdAt
        self.signsFrom = signsFrom
    }

    /// A signed JWT of `claims`, with `type` in its header (RFC 8725 §3.11).
    public func sign(_ claims: JSON, type: String) -> String {
        CompactJWS.sign(claims, type: type, key: privateKey, keyID: id)
    }
}
