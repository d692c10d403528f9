import Logging
import Synchronization

/// Records its lines.
final class KeptLog: LogSink {
    let level = Logger.Level.debug
    private let kept = Mutex<[LogRecord]>([])

    var messages: [String] { kept.withLock { $0.map(\.message) } }
    func write(_ record: LogRecord) { kept.withLock { $0.append(record) } }
    var logger: Logger { Logger(label: "test", sink: self) }
}
