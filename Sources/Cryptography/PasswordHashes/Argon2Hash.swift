import CArgon2

/// Argon2id, Argon2i and Argon2d in PHC form, `$argon2id$v=19$m=…,t=…,p=…$salt$digest` (RFC 9106).
struct Argon2Hash: PasswordScheme {
    private let encoded: String
    private let type: Argon2_type

    private static let types = ["argon2id": Argon2_id, "argon2i": Argon2_i, "argon2d": Argon2_d]
    /// The most that an imported hash may cost; ours cost `PasswordHashCost.standard`. 256 MiB, and sixteen passes
    /// over them.
    private static let mostMemoryKiB = 256 * 1024
    private static let mostWork = 16 * mostMemoryKiB
    private static let mostLanes = 16

    init?(reading encoded: String) throws(PasswordHashFault) {
        guard var fields = HashField.split(encoded), let name = fields.first, let type = Self.types[String(name)] else {
            return nil
        }
        // Version 16 may be left out.
        if fields.count == 5, ["v=16", "v=19"].contains(fields[1]) { fields.remove(at: 1) }
        guard fields.count == 4, let cost = HashField.numbers(fields[1], named: ["m", "t", "p"]),
            // RFC 9106 §3.1: at least one pass, and eight blocks for each lane.
            cost[1] >= 1, cost[2] >= 1, cost[0] / 8 >= cost[2],
            let salt = HashField.bytes(fields[2]), salt.count >= 8, HashField.saltLengths.contains(salt.count),
            let digest = HashField.bytes(fields[3]), HashField.digestLengths.contains(digest.count)
        else { throw .malformed(scheme: "Argon2") }
        guard cost[0] <= Self.mostMemoryKiB, cost[2] <= Self.mostLanes, cost[1] <= Self.mostWork / cost[0] else {
            throw .tooCostly(scheme: "Argon2", limit: "at most m=262144, p=16, and 4194304 for m times t")
        }
        self.encoded = encoded
        self.type = type
    }

    /// The library compares in constant time.
    func matches(_ password: [UInt8]) throws(PasswordHashingFailed) -> Bool {
        switch unsafe argon2_verify(encoded, password, password.count, type) {
        case ARGON2_OK.rawValue: return true
        case ARGON2_VERIFY_MISMATCH.rawValue: return false
        // Out of memory, or not a hash: this says nothing about the password.
        default: throw PasswordHashingFailed()
        }
    }
}
