internal import COpenSSL

/// Where chance comes from. An argument, so that a test can see every place that draws on it.
public protocol RandomSource: Sendable {
    /// `count` bytes nobody can foresee.
    func bytes(_ count: Int) -> [UInt8]
}

/// The operating system's randomness through OpenSSL's generator: the only source outside tests.
public struct SystemRandom: RandomSource {
    public init() {}

    public func bytes(_ count: Int) -> [UInt8] {
        OpenSSL.start()
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            // A generator that fails must never yield guessable tokens: there is nothing to go on with.
            precondition(unsafe RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "the random generator failed")
            initialized = count
        }
    }
}
