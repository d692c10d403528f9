/// One line of a log before it is formatted.
public struct LogRecord: Sendable {
    public let level: Logger.Level
    public let label: String
    public let message: String
    public let metadata: Logger.Metadata

    public init(level: Logger.Level, label: String, message: String, metadata: Logger.Metadata) {
        self.level = level
        self.label = label
        self.message = message
        self.metadata = metadata
    }
}
