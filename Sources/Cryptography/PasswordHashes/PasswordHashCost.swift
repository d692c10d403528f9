/// The cost of a password hash (RFC 9106). More memory or iterations make it costlier, for attackers too.
public struct PasswordHashCost: Sendable, Hashable {
    public let memoryKiB: UInt32
    public let iterations: UInt32
    public let parallelism: UInt32

    public init(memoryKiB: UInt32, iterations: UInt32, parallelism: UInt32) {
        self.memoryKiB = memoryKiB
        self.iterations = iterations
        self.parallelism = parallelism
    }

    /// OWASP's first choice for Argon2id.
    public static let standard = PasswordHashCost(memoryKiB: 19456, iterations: 2, parallelism: 1)
}
