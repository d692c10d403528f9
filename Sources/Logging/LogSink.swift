/// The destination of log lines.
public protocol LogSink: Sendable {
    /// Lines below this level are not written.
    var level: Logger.Level { get }
    func write(_ record: LogRecord)
}
