import CArgon2
import Foundation

/// What a password hash costs (RFC 9106). More memory or more iterations: dearer for everyone, thieves included.
public struct PasswordHashParameters: Sendable, Hashable {
    public let memoryKiB: UInt32
    public let iterations: UInt32
    public let parallelism: UInt32

    public init(memoryKiB: UInt32, iterations: UInt32, parallelism: UInt32) {
        self.memoryKiB = memoryKiB
        self.iterations = iterations
        self.parallelism = parallelism
    }

    /// OWASP's first choice for Argon2id.
    public static let standard = PasswordHashParameters(memoryKiB: 19456, iterations: 2, parallelism: 1)
}

/// What is stored of a password: Argon2id, a salt and their cost, in PHC form (`$argon2id$v=19$m=…,t=…,p=…$…$…`).
public struct PasswordHash: Sendable, Hashable {
    public let encoded: String

    public init(encoded: String) { self.encoded = encoded }

    /// Whether it costs something else than `parameters`, so that the next right password should be hashed anew.
    public func needsUpgrade(to parameters: PasswordHashParameters) -> Bool {
        let cost = "m=\(parameters.memoryKiB),t=\(parameters.iterations),p=\(parameters.parallelism)"
        return !encoded.hasPrefix("$argon2id$v=19$\(cost)$")
    }
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
    public var description: String { "<password hash>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - The work itself, which HashingPool alone calls: it takes tens of milliseconds of a core

extension PasswordHash {
    private static let saltLength = 16
    private static let hashLength = 32

    init(of password: [UInt8], salt: [UInt8], parameters: PasswordHashParameters) throws(PasswordHashingFailed) {
        let (m, t, p) = (parameters.memoryKiB, parameters.iterations, parameters.parallelism)
        let capacity = argon2_encodedlen(t, m, p, UInt32(salt.count), UInt32(Self.hashLength), Argon2_id)
        var text = [CChar](repeating: 0, count: capacity)
        let status = argon2id_hash_encoded(
            t, m, p, password, password.count, salt, salt.count, Self.hashLength, &text, capacity)
        guard status == ARGON2_OK.rawValue else { throw PasswordHashingFailed() }
        self.encoded = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether `password` is the one this was made of. Argon2 compares in constant time.
    func matches(_ password: [UInt8]) throws(PasswordHashingFailed) -> Bool {
        switch argon2id_verify(encoded, password, password.count) {
        case ARGON2_OK.rawValue: return true
        case ARGON2_VERIFY_MISMATCH.rawValue: return false
        // Out of memory, or a stored hash that is none: not an answer about the password.
        default: throw PasswordHashingFailed()
        }
    }

    static func salt(from random: any RandomSource) -> [UInt8] { random.bytes(saltLength) }

    /// The bytes that are hashed: one for all the ways to type the same characters (NFC, as RFC 8265 §4.2 has it).
    static func bytes(of password: String) throws(PasswordTooLong) -> [UInt8] {
        guard password.utf8.count <= PasswordTooLong.limit else { throw PasswordTooLong() }
        return Array(password.precomposedStringWithCanonicalMapping.utf8)
    }
}

/// The password is over 1024 bytes: longer ones only make work.
public struct PasswordTooLong: Error, Sendable, Equatable {
    public static let limit = 1024
}

/// There was no memory to hash in, or what is stored is no password hash.
public struct PasswordHashingFailed: Error, Sendable, Equatable {}
