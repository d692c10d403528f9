import Cryptography
import Logging
import Synchronization

/// Numbers requests, and makes a request's logger when it is needed.
final class RequestLog: Sendable {
    private let logger: Logger
    /// Distinguishes the requests of this process from those of others.
    private let process: String
    private let count: Atomic<UInt64>

    init(_ logger: Logger, random: any RandomSource) {
        self.logger = logger
        let seed = Hexadecimal.encode(random.bytes(16))
        process = String(seed.prefix(16))
        count = Atomic(UInt64(seed.dropFirst(16), radix: 16) ?? 0)
    }

    /// The number of the next request.
    func next() -> UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }

    /// The id of a request, for the log and for the user who sees an error: 32 hexadecimal digits.
    func id(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return process + String(repeating: "0", count: 16 - digits.count) + digits
    }

    func logger(_ number: UInt64) -> Logger {
        var logger = logger
        logger[metadataKey: "request_id"] = .string(id(number))
        return logger
    }
}
