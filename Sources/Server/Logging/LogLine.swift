import JSON
import Logging
import Values

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
        case .json: json.printableText
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
