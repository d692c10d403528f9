public import Cryptography

/// A bearer value: a token, a code, a client secret. Printing it shows nothing.
public struct Secret<Entity>: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value itself. Use it only to give it to its owner or to take its fingerprint.
    public let value: String

    public init(_ value: String) { self.value = value }
    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A new secret of 256 random bits, base64url (43 characters).
    public static func random(from random: any RandomSource) -> Self {
        Self(Base64URL.encode(random.bytes(32)))
    }

    /// A new secret of 256 random bits after the time, 12 hex digits of milliseconds (55 characters). For secrets made
    /// by the thousand: their rows are stored together (`Fingerprint.init(of:)`).
    public static func ordered(at now: Timestamp, from random: any RandomSource) -> Self {
        Self(Identifier<Entity>.time(now) + Base64URL.encode(random.bytes(32)))
    }

    /// The stored form of the secret.
    public var fingerprint: Fingerprint<Entity> { Fingerprint(of: value) }
}

/// The stored form of a secret: its SHA-256, base64url. Secrets are 256 random bits, so it needs no salt.
///
/// If the secret begins with a time, so does the fingerprint, whatever follows the random bits. Fingerprints of one
/// time are then adjacent in an index, and a commit writes one page for a whole group instead of one for each.
public struct Fingerprint<Entity>: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(text: String) { self.text = text }
    public init(of value: String) {
        let digest = Base64URL.encode(Digest.sha256(value.utf8))
        let time = value.utf8.prefix(12)
        let isOrdered = value.utf8.count >= 55 && time.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        self.text = isOrdered ? String(decoding: time, as: UTF8.self) + digest : digest
    }
    /// When the secret was made, if it begins with a time.
    public var time: Timestamp? {
        guard text.utf8.count == 55, let time = Int64(text.prefix(12), radix: 16) else { return nil }
        return Timestamp(milliseconds: time)
    }

    /// The last eight characters: enough to follow one token through a log.
    public var description: String { String(text.suffix(8)) }

    /// Compares in constant time.
    public func matches(_ other: Fingerprint<Entity>) -> Bool { constantTimeEqual(text.utf8, other.text.utf8) }
}
