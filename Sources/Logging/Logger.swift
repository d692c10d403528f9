/// Writes lines to a log: a level, a message and metadata. Message and metadata are only built for a line that is
/// written.
public struct Logger: Sendable {
    public typealias Metadata = [String: MetadataValue]

    public enum Level: String, Sendable, CaseIterable, Comparable {
        case trace, debug, info, notice, warning, error, critical

        public static func < (a: Level, b: Level) -> Bool { a.order < b.order }
        private var order: Int {
            switch self {
            case .trace: 0
            case .debug: 1
            case .info: 2
            case .notice: 3
            case .warning: 4
            case .error: 5
            case .critical: 6
            }
        }
    }

    public let label: String
    private let sink: any LogSink
    /// Added to every line of this logger.
    private var metadata: Metadata = [:]

    public init(label: String, sink: any LogSink) {
        self.label = label
        self.sink = sink
    }

    /// The same logger over another sink, made of its own.
    public func replacing(_ make: (any LogSink) -> any LogSink) -> Logger {
        var logger = Logger(label: label, sink: make(sink))
        logger.metadata = metadata
        return logger
    }

    /// A logger that writes nothing, at any level.
    public static let silent = Logger(label: "silent", sink: NoSink())

    public subscript(metadataKey key: String) -> MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// With `isOfServer`, equal lines may be counted (`LogRecord`).
    public func log(
        level: Level, _ message: @autoclosure () -> String, metadata extra: @autoclosure () -> Metadata = [:],
        isOfServer: Bool? = nil
    ) {
        guard level >= sink.level else { return }
        let extra = extra()
        let all = metadata.isEmpty ? extra : extra.isEmpty ? metadata : metadata.merging(extra) { $1 }
        sink.write(
            LogRecord(level: level, label: label, message: message(), metadata: all, isOfServer: isOfServer))
    }

    public func trace(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .trace, message(), metadata: metadata())
    }
    public func debug(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .debug, message(), metadata: metadata())
    }
    public func info(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .info, message(), metadata: metadata())
    }
    public func notice(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .notice, message(), metadata: metadata())
    }
    public func warning(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .warning, message(), metadata: metadata())
    }
    public func error(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .error, message(), metadata: metadata())
    }
    public func critical(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .critical, message(), metadata: metadata())
    }
}

/// One line of a log before it is formatted.
public struct LogRecord: Sendable {
    public let level: Logger.Level
    public let label: String
    public let message: String
    public let metadata: Logger.Metadata
    /// Whether it reports a fault of the server or of something it depends on, which may affect every request, or what
    /// is no request at all: a log may then count equal ones instead of writing each.
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

/// The value of a metadata member: text, or a structure of texts.
public enum MetadataValue: Sendable, Hashable {
    case string(String)
    case array([MetadataValue])
    case dictionary([String: MetadataValue])
}

extension MetadataValue: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: MetadataValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, MetadataValue)...) {
        self = .dictionary(Dictionary(elements) { $1 })
    }
}

extension MetadataValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .string(let text): text
        case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
        case .dictionary(let members):
            "[" + members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
        }
    }
}

/// The destination of log lines.
public protocol LogSink: Sendable {
    /// Lines below this level are not written.
    var level: Logger.Level { get }
    func write(_ record: LogRecord)
}

/// Drops every line.
struct NoSink: LogSink {
    var level: Logger.Level { .critical }
    func write(_ record: LogRecord) {}
}
