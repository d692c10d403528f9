public import Cryptography
import Text

/// The 32 bytes that seal every stored secret. It is never in a backup, and printing it shows nothing.
public struct MasterKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    static let length = 32

    private let root: SealingKey
    private let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.root = SealingKey(bytes)
        self.bytes = bytes
    }

    /// Reads the base64 of 32 bytes (RFC 4648 §4); white space around it is dropped.
    public init(base64 text: some StringProtocol) throws(MasterKeyError) {
        let trimmed = text.trimmingScalars { $0.isWhiteSpace || $0.isBlank }
        guard let bytes = Base64.decode(trimmed), bytes.count == Self.length else { throw .malformed }
        self.init(bytes: bytes)
    }

    public var description: String { "<master key>" }
    public var debugDescription: String { "<master key>" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A new key.
    public static func random(from random: any RandomSource) -> MasterKey {
        MasterKey(bytes: random.bytes(length))
    }

    /// The key for one purpose; it does not open what was sealed for another. `salt` may itself be a secret.
    public func sealing(for purpose: String, salt: [UInt8] = []) -> SealingKey {
        root.derived(for: purpose, salt: salt)
    }

    /// A value by which a database recognizes its key; it reveals nothing about the key.
    var checkValue: String { Base64URL.encode(root.derivedBytes(for: "facts.master_key_check")) }

    /// The content of the key file.
    var base64: String { Base64.encode(bytes) }
}
