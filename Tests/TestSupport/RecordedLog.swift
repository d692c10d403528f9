public import Logging
import Synchronization

/// Everything that was logged, at every level.
public final class RecordedLog: Sendable {
    private let recorded = Mutex<[String]>([])

    public init() {}

    public var lines: [String] { recorded.withLock { $0 } }

    /// Whether a line says `reason`.
    public func says(_ reason: String) -> Bool { lines.contains { $0.contains(reason) } }

    /// Logs `secret`, so that a test can show that it would have found one.
    public func plant(_ secret: String) { logger.trace("planted", metadata: ["token": "\(secret)"]) }

    public var logger: Logger {
        var logger = Logger(label: "spindle") { _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    fileprivate func record(_ line: String) { recorded.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let pairs = all.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
            log.record("\(event.level) \(event.message) \(pairs)")
        }
    }
}
