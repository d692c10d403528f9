internal import COpenSSL

/// scrypt in the PHC form and passlib's, `$scrypt$ln=…,r=…,p=…$salt$digest` (RFC 7914).
struct ScryptHash: PasswordScheme {
    private let blocks: UInt64
    private let blockSize: UInt64
    private let parallelism: UInt64
    private let salt: [UInt8]
    private let digest: [UInt8]

    /// 256 MiB, in units of 128 bytes, and four times the work of one such run. OWASP's first choice is half of it.
    private static let mostMemory = 1 << 21
    private static let mostWork = 1 << 23

    init?(reading encoded: String) throws(PasswordHashFault) {
        guard let fields = HashField.split(encoded), fields.first == "scrypt" else { return nil }
        guard fields.count == 4, let cost = HashField.numbers(fields[1], named: ["ln", "r", "p"]),
            cost.allSatisfy({ $0 >= 1 }),
            let salt = HashField.bytes(fields[2]), HashField.saltLengths.contains(salt.count),
            let digest = HashField.bytes(fields[3]), HashField.digestLengths.contains(digest.count)
        else { throw .malformed(scheme: "scrypt") }
        guard cost[0] <= 20, cost[1] <= Self.mostMemory >> cost[0],
            cost[2] <= Self.mostWork / (cost[1] << cost[0])
        else {
            throw .tooCostly(scheme: "scrypt", limit: "at most 2^21 for 2^ln times r, and 2^23 for that times p")
        }
        blocks = 1 << UInt64(cost[0])
        blockSize = UInt64(cost[1])
        parallelism = UInt64(cost[2])
        self.salt = salt
        self.digest = digest
    }

    func matches(_ password: [UInt8]) throws(PasswordHashingFailed) -> Bool {
        var derived = [UInt8](repeating: 0, count: digest.count)
        // RFC 7914 §5 and §6: N blocks of 128 r bytes, p more, and a few for the work.
        let memory = 128 * blockSize * (blocks + parallelism + 4)
        let done = unsafe password.withUnsafeBytes { password in
            unsafe EVP_PBE_scrypt(
                password.bindMemory(to: CChar.self).baseAddress, password.count, salt, salt.count, blocks, blockSize,
                parallelism, memory, &derived, derived.count)
        }
        guard done == 1 else { throw PasswordHashingFailed() }
        return constantTimeEqual(derived, digest)
    }
}
