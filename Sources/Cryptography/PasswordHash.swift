import CArgon2
import Foundation
import InternationalText

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

/// What is stored of a password: Argon2id, a salt and their cost, in PHC form (`$argon2id$v=19$m=…,t=…,p=…$…$…`), or
/// the hash that another system made, until its owner signs in.
public struct PasswordHash: Sendable, Hashable {
    public let encoded: String

    public init(encoded: String) { self.encoded = encoded }

    /// Whether it costs a thief less than Argon2id at the cost of `parameters`, so that the next right password should be
    /// hashed anew. One that takes as much memory, and as much work in all, stays: another system chose it so.
    public func needsUpgrade(to parameters: PasswordHashParameters) -> Bool {
        let fields = encoded.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 6, fields[1] == "argon2id", fields[2] == "v=19",
            let cost = HashField.numbers(fields[3], named: ["m", "t", "p"])
        else { return true }
        let memory = Int(parameters.memoryKiB)
        let (work, isTooMuch) = cost[0].multipliedReportingOverflow(by: cost[1])
        return cost[0] < memory || (!isTooMuch && work < memory * Int(parameters.iterations))
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
        let status = unsafe argon2id_hash_encoded(
            t, m, p, password, password.count, salt, salt.count, Self.hashLength, &text, capacity)
        guard status == ARGON2_OK.rawValue else { throw PasswordHashingFailed() }
        self.encoded = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether `password` is the one this was made of, here or in another system.
    func matches(_ password: Typed) throws(PasswordHashingFailed) -> Bool {
        let scheme: any PasswordScheme
        // What is stored and yet no hash is not an answer about the password.
        do { scheme = try self.scheme() } catch { throw PasswordHashingFailed() }
        for bytes in password.readings where try scheme.matches(bytes) { return true }
        return false
    }

    /// What no password matches and takes as long to compare: chance in the place of a digest. To hash something instead
    /// would be a fifth of the start.
    static func ofNothing(_ parameters: PasswordHashParameters, random: any RandomSource) -> PasswordHash {
        func field(_ length: Int) -> String {
            String(Data(random.bytes(length)).base64EncodedString().prefix { $0 != "=" })
        }
        let cost = "m=\(parameters.memoryKiB),t=\(parameters.iterations),p=\(parameters.parallelism)"
        return PasswordHash(encoded: "$argon2id$v=19$\(cost)$\(field(saltLength))$\(field(hashLength))")
    }

    static func salt(from random: any RandomSource) -> [UInt8] { random.bytes(saltLength) }

    /// A password as it came in.
    struct Typed: Sendable {
        /// What is hashed: the same for all the ways to type the same characters (NFC, as RFC 8265 §4.2 has it).
        let normalized: [UInt8]
        /// What the hash of another system may have been made of, which took the bytes as they came.
        let readings: [[UInt8]]

        init(_ text: String) throws(PasswordTooLong) {
            let typed = Array(text.utf8)
            guard typed.count <= PasswordTooLong.limit else { throw PasswordTooLong() }
            normalized = Array(text.canonicallyComposed.utf8)
            readings = normalized == typed ? [normalized] : [normalized, typed]
        }
    }
}

/// The password is over 8192 bytes: longer ones only make work.
public struct PasswordTooLong: Error, Sendable, Equatable {
    public static let limit = 8192
}

/// There was no memory to hash in, or what is stored is no password hash.
public struct PasswordHashingFailed: Error, Sendable, Equatable {}
