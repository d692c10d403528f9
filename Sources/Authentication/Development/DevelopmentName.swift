import Cryptography
import InternationalText
import Text
public import Values

/// What somebody types at a development sign-in: any name. It leads to the same account each time, in whatever database,
/// and to none that was made otherwise.
public struct DevelopmentName: Sendable, Equatable {
    /// No mail goes there, and nobody has it (RFC 2606 §2).
    public static let domain = "dev.example"
    private static let longest = 60

    /// As it was typed, without white space around it.
    public let text: String

    /// Takes the address of such an account for its name. Nil for nothing, too much, and what no line can show.
    public init?(_ typed: String) {
        var text = typed.trimmingScalars { $0.isWhiteSpace || $0.isBlank }
        if text.lowercased().hasSuffix("@\(Self.domain)") { text.removeLast(Self.domain.count + 1) }
        guard !text.isEmpty, text.count <= Self.longest, text.utf8.count <= 4 * Self.longest,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        self.text = text
    }

    /// What tells one from another: as in an e-mail address, letter case does not.
    var key: String { text.canonicallyComposed.lowercased() }

    /// The number that the name makes: an app that knows its person by `sub` still does after a new beginning.
    public var user: UserID {
        UserID(spread: Array(Digest.sha256("development/\(local)".utf8).prefix(8)))
    }

    public var email: String { "\(local)@\(Self.domain)" }

    /// The name in its address. What an address cannot hold gives way to a mark of the name, so that no two share one;
    /// typed in its place it is the same person.
    private var local: String {
        let plain = String(key.utf8.map { Self.isPlain($0) ? Character(Unicode.Scalar($0)) : "-" })
        guard plain != key else { return plain }
        return "\(plain.prefix(40))-\(Base64URL.encode(Array(Digest.sha256(key.utf8).prefix(6))).lowercased())"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "._-+".utf8.contains(byte)
    }
}
