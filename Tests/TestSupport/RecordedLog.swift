public import Logging
import Synchronization

/// Everything that was logged, at every level.
public final class RecordedLog: LogSink {
    private let recorded = Mutex<[String]>([])

    public init() {}

    public var lines: [String] { recorded.withLock { $0 } }

    /// Whether a line says `reason`.
    public func says(_ reason: String) -> Bool { lines.contains { $0.contains(reason) } }

    /// Logs `secret`, so that a test can show that it would have found one.
    public func plant(_ secret: String) { logger.trace("planted", metadata: ["token": "\(secret)"]) }

    public var logger: Logger { Logger(label: "spindle", sink: self) }

    public var level: Logger.Level { .trace }

    public func write(_ record: LogRecord) {
        let pairs = record.metadata.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        recorded.withLock { $0.append("\(record.level) \(record.message) \(pairs)") }
    }
}
