import Cryptography
import InternationalText
import Text
public import Values

/// The name typed at a development sign-in: any name. It leads to the same user each time, in every database, and never
/// to a user who was created otherwise.
public struct DevelopmentName: Sendable, Equatable {
    /// A reserved domain: no mail goes there, and it has no owner (RFC 2606 §2).
    public static let domain = "dev.example"
    private static let longest = 60

    /// Three users who are there from the start.
    public static let examples = ["alice", "bob", "carol"].compactMap { DevelopmentName($0) }

    /// The name as typed, without white space around it.
    public let text: String

    /// Reads a name, or the address made from one. Nil for an empty or too long text and for control characters.
    public init?(_ typed: String) {
        var text = typed.trimmingScalars { $0.isWhiteSpace || $0.isBlank }
        if text.lowercased().hasSuffix("@\(Self.domain)") { text.removeLast(Self.domain.count + 1) }
        guard !text.isEmpty, text.count <= Self.longest, text.utf8.count <= 4 * Self.longest,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        self.text = text
    }

    /// The key that distinguishes names: as in an e-mail address, letter case does not count.
    var key: String { text.canonicallyComposed.lowercased() }

    /// The user id made from the name: an app that stored the `sub` still knows the user in a new database.
    public var user: UserID {
        UserID(spread: Array(Digest.sha256("development/\(local)".utf8).prefix(8)))
    }

    public var email: String { "\(local)@\(Self.domain)" }

    /// The local part of the address. A name with characters that an address cannot contain gets a digest, so that no
    /// two names share an address. Typing the local part leads to the same user.
    private var local: String {
        let plain = String(key.utf8.map { Self.isPlain($0) ? Character(Unicode.Scalar($0)) : "-" })
        guard plain != key else { return plain }
        return "\(plain.prefix(40))-\(Base64URL.encode(Array(Digest.sha256(key.utf8).prefix(6))).lowercased())"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "._-+".utf8.contains(byte)
    }
}
