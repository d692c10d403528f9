public import Logging
import Synchronization

/// Records everything that is logged, at every level.
public final class RecordedLog: LogSink {
    private let recorded = Mutex<[(line: String, record: LogRecord)]>([])

    public init() {}

    public var lines: [String] { recorded.withLock { $0.map(\.line) } }

    public var records: [LogRecord] { recorded.withLock { $0.map(\.record) } }

    /// The lines about the request that got `answer`.
    public func records(of answer: Answer) -> [LogRecord] {
        let id = answer.header("x-request-id").map { MetadataValue.string($0) }
        return records.filter { $0.metadata["request_id"] == id }
    }

    /// Whether a line contains `reason`.
    public func says(_ reason: String) -> Bool { lines.contains { $0.contains(reason) } }

    /// Logs `secret`, to prove that a test would find a leaked one.
    public func plant(_ secret: String) { logger.trace("planted", metadata: ["token": "\(secret)"]) }

    public var logger: Logger { Logger(label: "spindle", sink: self) }

    public var level: Logger.Level { .trace }

    public func write(_ record: LogRecord) {
        let pairs = record.metadata.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        recorded.withLock { $0.append(("\(record.level) \(record.message) \(pairs)", record)) }
    }
}
