internal import CCrypt
internal import COpenSSL

/// bcrypt, `$2b$12$` and 53 characters, by the system's libcrypt, which treats `$2a$` and `$2y$` the same.
///
/// bcrypt reads only the first 72 bytes of a password, and stops at a NUL.
struct BcryptHash: PasswordScheme {
    private let encoded: String

    private static let prefixes = ["$2a$", "$2b$", "$2y$"]
    private static let cheapest = 4
    /// A few seconds of one core. OWASP recommends 10.
    private static let dearest = 16
    private static let mostBytes = 72
    /// `$2b$12$`, 22 characters of salt, 31 of digest.
    private static let length = 60
    private static let digestLength = 31

    init?(reading encoded: String) throws(PasswordHashFault) {
        guard Self.prefixes.contains(where: encoded.hasPrefix) else { return nil }
        let bytes = Array(encoded.utf8)
        guard bytes.count == Self.length, bytes[6] == UInt8(ascii: "$"),
            let cost = HashField.number(encoded.dropFirst(4).prefix(2)), cost >= Self.cheapest,
            bytes[7...].allSatisfy({ Unicode.Scalar($0).isBcryptLetter })
        else { throw .malformed(scheme: "bcrypt") }
        guard cost <= Self.dearest else { throw .tooCostly(scheme: "bcrypt", limit: "at most 16 for the cost") }
        self.encoded = encoded
    }

    func matches(_ password: [UInt8]) throws(PasswordHashingFailed) -> Bool {
        // bcrypt ignores everything after a NUL: "a\0b" must not equal the password "a".
        guard !password.contains(0) else { return false }
        let phrase = password.prefix(Self.mostBytes) + [0]
        guard let computed = Self.crypt(Array(phrase), setting: encoded) else { throw PasswordHashingFailed() }
        // The last character of the salt has spare bits, which some systems set, so only the digest is compared.
        return constantTimeEqual(computed.suffix(Self.digestLength), encoded.utf8.suffix(Self.digestLength))
    }

    /// libcrypt's hash of a phrase that ends in NUL.
    private static func crypt(_ phrase: [UInt8], setting: String) -> [UInt8]? {
        // 32 KiB, too much for a thread's stack, and zeroed as libcrypt requires.
        let size = MemoryLayout<crypt_data>.size
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<crypt_data>.alignment)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        defer {
            // The phrase may still be in it.
            unsafe OPENSSL_cleanse(memory, size)
            unsafe memory.deallocate()
        }
        return unsafe phrase.withUnsafeBytes { phrase in
            unsafe crypt_r(
                phrase.bindMemory(to: CChar.self).baseAddress, setting,
                memory.assumingMemoryBound(to: crypt_data.self)
            ).map { unsafe Array(String(cString: $0).utf8) }
        }.flatMap { $0.count == length ? $0 : nil }
    }
}

extension Unicode.Scalar {
    /// A character of bcrypt's own base64 alphabet.
    fileprivate var isBcryptLetter: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "/": true
        default: false
        }
    }
}
