/// One way to hash passwords: what is stored of one, read and found to be affordable.
protocol PasswordScheme: Sendable {
    /// Reads `encoded`, or returns nil when it is of another scheme.
    init?(reading encoded: String) throws(PasswordHashFault)

    /// Whether this was made of these bytes: the work itself.
    func matches(_ password: [UInt8]) throws(PasswordHashingFailed) -> Bool
}

extension PasswordHash {
    private static let schemes: [any PasswordScheme.Type] = [
        Argon2Hash.self, BcryptHash.self, ScryptHash.self, PBKDF2Hash.self,
    ]
    /// Longer than any of them is.
    private static let longest = 512

    /// A hash that another system made, when Spindle can verify it without being brought to its knees.
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

/// Why a password hash is not taken. Says nothing of the hash itself.
public enum PasswordHashFault: Error, Sendable, Hashable {
    /// It is none of Argon2, bcrypt, scrypt and PBKDF2, or is written otherwise.
    case unknownScheme
    case malformed(scheme: String)
    /// To verify it would cost more memory or time than a sign-in is worth; `limit` says what may be spent.
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
