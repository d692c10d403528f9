/// One line of a log before it is formatted.
public struct LogRecord: Sendable {
    public let level: Logger.Level
    public let label: String
    public let message: String
    public let metadata: Logger.Metadata
    /// Whether it reports a fault of the server or of something it depends on, which may affect every request: a log
    /// may then count equal ones instead of writing each.
    public let isOfServer: Bool

    /// By default, errors are the server's and lower levels are not.
    public init(
        level: Logger.Level, label: String, message: String, metadata: Logger.Metadata, isOfServer: Bool? = nil
    ) {
        self.level = level
        self.label = label
        self.message = message
        self.metadata = metadata
        self.isOfServer = isOfServer ?? (level >= .error)
    }
}
