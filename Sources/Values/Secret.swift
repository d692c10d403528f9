public import Cryptography

/// A value that whoever holds it may use: a token, a code, a client secret. It does not print.
public struct Secret<Entity>: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value itself. Name it only where it leaves to its owner or is fingerprinted.
    public let value: String

    public init(_ value: String) { self.value = value }
    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A new secret of 256 random bits, base64url (43 characters).
    public static func random(from random: any RandomSource) -> Self {
        Self(Base64URL.encode(random.bytes(32)))
    }

    /// What is stored of it.
    public var fingerprint: Fingerprint<Entity> { Fingerprint(of: value) }
}

/// All that is stored of a secret: its SHA-256, base64url. The secrets are 256 random bits, so it needs no salt.
public struct Fingerprint<Entity>: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(text: String) { self.text = text }
    public init(of value: String) { self.text = Base64URL.encode(Digest.sha256(value.utf8)) }
    /// The first eight characters: enough to follow one token through a log.
    public var description: String { String(text.prefix(8)) }

    /// Compares in constant time.
    public func matches(_ other: Fingerprint<Entity>) -> Bool { constantTimeEqual(text.utf8, other.text.utf8) }
}
