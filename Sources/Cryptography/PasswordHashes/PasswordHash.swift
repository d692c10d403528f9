import CArgon2
import InternationalText

/// The stored form of a password: Argon2id with its salt and cost, in PHC form (`$argon2id$v=19$m=…,t=…,p=…$…$…`). A
/// user imported from another system keeps that system's hash until the next sign-in.
public struct PasswordHash: Sendable, Hashable {
    public let encoded: String

    public init(encoded: String) { self.encoded = encoded }

    /// Whether cracking it costs less than Argon2id with `parameters`; the next right password should then be hashed
    /// again. A hash with at least as much memory and total work stays, because another system chose it.
    public func needsUpgrade(to parameters: PasswordHashCost) -> Bool {
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

// MARK: - The work itself, which only HashingPool calls: it takes tens of milliseconds of a core

extension PasswordHash {
    private static let saltLength = 16
    private static let hashLength = 32

    init(of password: [UInt8], salt: [UInt8], parameters: PasswordHashCost) throws(PasswordHashingFailed) {
        let (m, t, p) = (parameters.memoryKiB, parameters.iterations, parameters.parallelism)
        let capacity = argon2_encodedlen(t, m, p, UInt32(salt.count), UInt32(Self.hashLength), Argon2_id)
        var text = [CChar](repeating: 0, count: capacity)
        let status = unsafe argon2id_hash_encoded(
            t, m, p, password, password.count, salt, salt.count, Self.hashLength, &text, capacity)
        guard status == ARGON2_OK.rawValue else { throw PasswordHashingFailed() }
        self.encoded = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether this was made from `password`, here or in another system.
    func matches(_ password: Typed) throws(PasswordHashingFailed) -> Bool {
        let scheme: any PasswordScheme
        // A stored text that is not a hash says nothing about the password.
        do { scheme = try self.scheme() } catch { throw PasswordHashingFailed() }
        for bytes in password.readings where try scheme.matches(bytes) { return true }
        return false
    }

    /// A hash that matches no password, and that takes as long to compare: random bytes in place of a digest. Computing
    /// a real hash would make up a fifth of the start-up time.
    static func ofNothing(_ parameters: PasswordHashCost, random: any RandomSource) -> PasswordHash {
        func field(_ length: Int) -> String {
            String(Base64.encode(random.bytes(length)).prefix { $0 != "=" })
        }
        let cost = "m=\(parameters.memoryKiB),t=\(parameters.iterations),p=\(parameters.parallelism)"
        return PasswordHash(encoded: "$argon2id$v=19$\(cost)$\(field(saltLength))$\(field(hashLength))")
    }

    static func salt(from random: any RandomSource) -> [UInt8] { random.bytes(saltLength) }

    /// A password as the user sent it.
    struct Typed: Sendable {
        /// The bytes to hash, equal for every way to type the same characters (NFC, RFC 8265 §4.2).
        let normalized: [UInt8]
        /// The bytes that a hash may have been made from: another system may have hashed them unnormalized.
        let readings: [[UInt8]]

        init(_ text: String) throws(PasswordTooLong) {
            let typed = Array(text.utf8)
            guard typed.count <= PasswordTooLong.limit else { throw PasswordTooLong() }
            normalized = Array(text.canonicallyComposed.utf8)
            readings = normalized == typed ? [normalized] : [normalized, typed]
        }
    }
}

/// The password is over 8192 bytes: longer ones only cost time.
public struct PasswordTooLong: Error, Sendable, Equatable {
    public static let limit = 8192
}

/// Memory was short, or the stored text is not a password hash.
public struct PasswordHashingFailed: Error, Sendable, Equatable {}
