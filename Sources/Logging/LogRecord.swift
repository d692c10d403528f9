/// One line of a log before it is formatted.
public struct LogRecord: Sendable {
    public let level: Logger.Level
    public let label: String
    public let message: String
    public let metadata: Logger.Metadata
    /// Whether it tells of a fault of the server or of what it depends on, which may befall every request: a log may
    /// then count equal ones instead of writing each.
    public let isOfServer: Bool

    /// Errors are the server's; what is less is not, unless it is said.
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
