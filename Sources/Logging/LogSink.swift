/// Where lines go.
public protocol LogSink: Sendable {
    /// Lines below it are not written.
    var level: Logger.Level { get }
    func write(_ record: LogRecord)
}
