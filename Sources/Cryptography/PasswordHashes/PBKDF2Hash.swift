internal import COpenSSL

/// PBKDF2 with HMAC (RFC 8018 §5.2): `$pbkdf2-sha256$rounds$salt$digest` in passlib's and the PHC form, and Django's
/// `pbkdf2_sha256$rounds$salt$digest`, whose salt is text.
struct PBKDF2Hash: PasswordScheme {
    fileprivate enum Function { case sha1, sha256, sha512 }

    private let function: Function
    private let rounds: Int32
    private let salt: [UInt8]
    private let digest: [UInt8]

    private static let functions: [Substring: Function] = [
        "pbkdf2": .sha1, "pbkdf2-sha1": .sha1, "pbkdf2-sha256": .sha256, "pbkdf2-sha512": .sha512,
    ]
    private static let djangoFunctions: [Substring: Function] = ["pbkdf2_sha1": .sha1, "pbkdf2_sha256": .sha256]
    /// Some seconds of one core. OWASP recommends 600,000 for SHA-256.
    private static let mostRounds = 5_000_000

    init?(reading encoded: String) throws(PasswordHashFault) {
        let fields: [Substring]
        let saltText: (Substring) -> [UInt8]?
        if let phc = HashField.split(encoded), let function = phc.first.flatMap({ Self.functions[$0] }) {
            (self.function, fields, saltText) = (function, phc, { HashField.bytes($0) })
        } else {
            fields = encoded.split(separator: "$", omittingEmptySubsequences: false)
            guard let function = fields.first.flatMap({ Self.djangoFunctions[$0] }) else { return nil }
            (self.function, saltText) = (function, { Array($0.utf8) })
        }
        guard fields.count == 4, let rounds = Self.rounds(fields[1]), rounds >= 1,
            let salt = saltText(fields[2]), HashField.saltLengths.contains(salt.count),
            let digest = HashField.bytes(fields[3]), HashField.digestLengths.contains(digest.count)
        else { throw .malformed(scheme: "PBKDF2") }
        // A digest longer than the function's multiplies the work.
        guard rounds * function.blocks(for: digest.count) <= Self.mostRounds else {
            throw .tooCostly(scheme: "PBKDF2", limit: "at most 5000000 rounds")
        }
        self.rounds = Int32(rounds)
        self.salt = salt
        self.digest = digest
    }

    /// passlib writes `29000`, the PHC form `i=29000`.
    private static func rounds(_ text: Substring) -> Int? {
        HashField.number(text.hasPrefix("i=") ? text.dropFirst(2) : text)
    }

    func matches(_ password: [UInt8]) throws(PasswordHashingFailed) -> Bool {
        var derived = [UInt8](repeating: 0, count: digest.count)
        let done = unsafe password.withUnsafeBytes { password in
            unsafe PKCS5_PBKDF2_HMAC(
                password.bindMemory(to: CChar.self).baseAddress, Int32(password.count), salt, Int32(salt.count), rounds,
                function.evp, Int32(derived.count), &derived)
        }
        guard done == 1 else { throw PasswordHashingFailed() }
        return constantTimeEqual(derived, digest)
    }
}

extension PBKDF2Hash.Function {
    fileprivate var evp: OpaquePointer {
        switch self {
        case .sha1: unsafe EVP_sha1()
        case .sha256: unsafe EVP_sha256()
        case .sha512: unsafe EVP_sha512()
        }
    }

    fileprivate func blocks(for length: Int) -> Int {
        switch self {
        case .sha1: (length + 19) / 20
        case .sha256: (length + 31) / 32
        case .sha512: 1
        }
    }
}
