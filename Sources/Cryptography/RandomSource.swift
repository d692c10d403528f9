internal import COpenSSL

/// A source of random bytes. It is passed as an argument, so that a test sees every use of randomness.
public protocol RandomSource: Sendable {
    /// `count` unpredictable bytes.
    func bytes(_ count: Int) -> [UInt8]
}

/// The operating system's randomness through OpenSSL's generator: the only source outside tests.
public struct SystemRandom: RandomSource {
    public init() {}

    public func bytes(_ count: Int) -> [UInt8] { RandomBlock.ofThisThread.take(count) }
}
