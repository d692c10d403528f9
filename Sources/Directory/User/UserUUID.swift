import Cryptography
public import Values

/// The UUID by which SPiD's API also names a user: of version 8 (RFC 9562 §5.8), made of the user id.
///
/// The user id is in the last 62 bits. The bits before it are a digest of the id, so that no other UUID is taken for a
/// user's. It is not stored and not secret: anyone who knows the id can compute it.
public struct UserUUID: Sendable, Hashable, CustomStringConvertible {
    public let user: UserID

    public init(_ user: UserID) { self.user = user }

    /// Reads a UUID of this server, in either letter case (RFC 9562 §4); nil for any other text.
    public init?(_ text: some StringProtocol) {
        let last = text.utf8.suffix(17).filter { $0 != UInt8(ascii: "-") }
        guard text.utf8.count == 36, let tail = UInt64(String(decoding: last, as: UTF8.self), radix: 16),
            let user = UserID(String(tail & Self.numberMask))
        else { return nil }
        self.init(user)
        guard description.utf8.elementsEqual(text.lowercased().utf8) else { return nil }
    }

    /// The UUID of `user`: `subject`, which an import kept, if that is one.
    package static func text(of user: UserID, keeping subject: String?) -> String {
        if let subject, subject == subject.lowercased(), hasForm(subject) { return subject }
        return UserUUID(user).description
    }

    /// Whether `text` has the form of a UUID, of any version and any origin.
    public static func hasForm(_ text: String) -> Bool {
        text.wholeMatch(of: /(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/) != nil
    }

    public var description: String {
        let label = Array("Spindle person uuid|\(user)".utf8)
        var bytes = Array(Digest.sha256(label).prefix(8))
        bytes[6] = bytes[6] & 0x0F | 0x80
        let tail = Self.variant | UInt64(bitPattern: user.number) & Self.numberMask
        bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: tail >> ($0 * 8)) }
        return [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
            .map(Hexadecimal.encode).joined(separator: "-")
    }

    private static let variant: UInt64 = 1 << 63
    private static let numberMask: UInt64 = 1 << 62 - 1
}
