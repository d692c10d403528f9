internal import COpenSSL

/// A source of random bytes. It is passed as an argument, so that a test sees every use of randomness.
public protocol RandomSource: Sendable {
    /// `count` unpredictable bytes.
    func bytes(_ count: Int) -> [UInt8]
}

/// The operating system's randomness through OpenSSL's generator: the only source outside tests.
public struct SystemRandom: RandomSource {
    public init() {}

    public func bytes(_ count: Int) -> [UInt8] {
        OpenSSL.start()
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            // A failing generator must never lead to guessable tokens, so the process stops.
            precondition(unsafe RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "the random generator failed")
            initialized = count
        }
    }
}
