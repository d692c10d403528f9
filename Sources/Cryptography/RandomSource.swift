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

/// Random bytes drawn from OpenSSL's generator in advance, for one thread: a call of the generator costs the same for
/// 16 bytes as for hundreds. Bytes are erased as they are handed out, so that memory does not reveal them later.
@safe final class RandomBlock {
    private static let size = 512
    private static let blocks = unsafe PerThread { pointer in
        guard let pointer = unsafe pointer else { return }
        unsafe Unmanaged<RandomBlock>.fromOpaque(pointer).release()
    }

    /// This thread's block.
    static var ofThisThread: RandomBlock {
        OpenSSL.start()
        let block = unsafe blocks.value { unsafe OpaquePointer(Unmanaged.passRetained(RandomBlock()).toOpaque()) }
        return unsafe Unmanaged<RandomBlock>.fromOpaque(UnsafeRawPointer(block)).takeUnretainedValue()
    }

    private var bytes = [UInt8](repeating: 0, count: size)
    /// How many of `bytes` are handed out.
    private var used = size

    deinit { unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) } }

    func take(_ count: Int) -> [UInt8] {
        guard count <= Self.size else { return Self.draw(count) }
        if bytes.count - used < count {
            bytes = Self.draw(Self.size)
            used = 0
        }
        let range = used..<used + count
        let taken = Array(bytes[range])
        for index in range { bytes[index] = 0 }
        used += count
        return taken
    }

    private static func draw(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            // A failing generator must never lead to guessable tokens, so the process stops.
            precondition(unsafe RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "the random generator failed")
            initialized = count
        }
    }
}
