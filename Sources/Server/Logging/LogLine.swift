import JSON
import Logging
import Values

extension LogRecord {
    /// The record as it is written. It is cut before it waits for the reader of the log: what a client sent may be as
    /// long as a request, and thousands of records wait.
    var cut: LogRecord {
        guard metadata.values.contains(where: \.isLong) else { return self }
        return LogRecord(level: level, label: label, message: message, metadata: metadata.mapValues(\.cut))
    }
}

extension MetadataValue {
    /// The most bytes of one value.
    private static let most = 1000

    fileprivate var isLong: Bool {
        switch self {
        case .string(let text): text.utf8.count > Self.most
        case .array, .dictionary: description.utf8.count > Self.most
        }
    }

    /// At most 1000 bytes of it. A list that is longer becomes text.
    fileprivate var cut: MetadataValue {
        guard isLong else { return self }
        let text = description
        return .string("\(text.prefix(bytes: Self.most))… (\(text.utf8.count) bytes)")
    }
}

/// One event of the log.
struct LogLine {
    let time: Timestamp
    let level: Logger.Level
    let label: String
    let message: String
    let metadata: Logger.Metadata

    /// The line, without its line end.
    func text(in format: LogFormat) -> String {
        switch format {
        case .text: plainText
        case .json: json.text
        }
    }

    private var plainText: String {
        let level = self.level.rawValue
        let padding = String(repeating: " ", count: max(0, 8 - level.count))
        let start = "\(time.rfc3339) \(level)\(padding) \(message.printable)"
        return metadata.sorted { $0.key < $1.key }.reduce(start) { line, item in
            line + " \(item.key.printableWord)=\(item.value.description.printableWord)"
        }
    }

    private var json: JSON {
        .members([
            "time": .string(time.rfc3339),
            "level": .string(level.rawValue),
            "logger": .string(label),
            "message": .string(message),
            "metadata": metadata.isEmpty ? nil : JSON(.dictionary(metadata)),
        ])
    }
}

extension JSON {
    fileprivate init(_ value: MetadataValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .array(let values): self = .array(values.map { JSON($0) })
        case .dictionary(let values):
            self = .object(values.sorted { $0.key < $1.key }.map { Member($0.key, JSON($0.value)) })
        }
    }
}
