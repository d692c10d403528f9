import Cryptography
import Logging
import Synchronization

/// Numbers requests, and makes the logger of one when it has something to say.
final class RequestLog: Sendable {
    private let logger: Logger
    /// What tells the requests of this process from those of others.
    private let process: String
    private let count: Atomic<UInt64>

    init(_ logger: Logger, random: any RandomSource) {
        self.logger = logger
        let seed = Hexadecimal.encode(random.bytes(16))
        process = String(seed.prefix(16))
        count = Atomic(UInt64(seed.dropFirst(16), radix: 16) ?? 0)
    }

    /// The number of another request.
    func next() -> UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }

    /// What a request is called in the log, and to the person who met a fault: 32 hexadecimal digits.
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
