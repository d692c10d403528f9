/// Drops every line.
struct NoSink: LogSink {
    var level: Logger.Level { .critical }
    func write(_ record: LogRecord) {}
}
