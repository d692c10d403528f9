/// One way to hash passwords: a stored hash that was read and is cheap enough to verify.
protocol PasswordScheme: Sendable {
    /// Reads `encoded`, or returns nil when it is of another scheme.
    init?(reading encoded: String) throws(PasswordHashFault)

    /// Whether this was made from these bytes. Does the actual work.
    func matches(_ password: [UInt8]) throws(PasswordHashingFailed) -> Bool
}

extension PasswordHash {
    private static let schemes: [any PasswordScheme.Type] = [
        Argon2Hash.self, BcryptHash.self, ScryptHash.self, PBKDF2Hash.self,
    ]
    /// Longer than any supported hash.
    private static let longest = 512

    /// A hash that another system made. Throws when Spindle cannot verify it at a reasonable cost.
    public init(imported encoded: String) throws(PasswordHashFault) {
        self.init(encoded: encoded)
        _ = try scheme()
    }

    func scheme() throws(PasswordHashFault) -> any PasswordScheme {
        guard encoded.utf8.count <= Self.longest, encoded.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .unknownScheme
        }
        for type in Self.schemes {
            if let scheme = try type.init(reading: encoded) { return scheme }
        }
        throw .unknownScheme
    }
}

/// Why a password hash is not accepted. Says nothing about the hash itself.
public enum PasswordHashFault: Error, Sendable, Hashable {
    /// None of Argon2, bcrypt, scrypt and PBKDF2, or in an unknown form.
    case unknownScheme
    case malformed(scheme: String)
    /// Verifying it would cost more memory or time than a sign-in may; `limit` says how much may be spent.
    case tooCostly(scheme: String, limit: String)
}

extension PasswordHashFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownScheme: "no hash of Argon2, bcrypt, scrypt or PBKDF2 in a form that is known"
        case .malformed(let scheme): "not a well-formed \(scheme) hash"
        case .tooCostly(let scheme, let limit): "too costly for \(scheme): \(limit)"
        }
    }
}
