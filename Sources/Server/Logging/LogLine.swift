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

extension LogRecord {
    /// The record as it is kept: at most 1000 bytes of each text, because text from a client may be as long as a
    /// request.
    var cut: LogRecord {
        guard metadata.values.contains(where: \.isLong) else { return self }
        return LogRecord(
            level: level, label: label, message: message, metadata: metadata.mapValues(\.cut), isOfServer: isOfServer)
    }
}

extension MetadataValue {
    private static let most = 1000

    fileprivate var isLong: Bool {
        switch self {
        case .string(let text): text.utf8.count > Self.most
        case .array(let values): values.contains(where: \.isLong)
        case .dictionary(let members): members.values.contains(where: \.isLong)
        }
    }

    fileprivate var cut: MetadataValue {
        switch self {
        case .string(let text): isLong ? .string("\(text.prefix(bytes: Self.most))… (\(text.utf8.count) bytes)") : self
        case .array(let values): .array(values.map(\.cut))
        case .dictionary(let members): .dictionary(members.mapValues(\.cut))
        }
    }
}

extension String {
    /// The text on one line that cannot control a terminal: control characters and line separators are escaped.
    var printable: String {
        guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isUnprintable {
                text += scalar.escaped
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text as a word of a line: in quotes, with quotes and backslashes escaped, where it could be confused with
    /// the text around it. Works on scalars, as readers do: to Swift a quote with a combining mark is another
    /// character, but it still ends the text.
    var printableWord: String {
        let isPlain = !isEmpty && !unicodeScalars.contains { $0.isUnprintable || " \"=\\".unicodeScalars.contains($0) }
        guard !isPlain else { return self }
        var text = "\""
        for scalar in unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            if scalar.isUnprintable { text += scalar.escaped } else { text.unicodeScalars.append(scalar) }
        }
        return text + "\""
    }
}

extension JSON {
    /// The compact form without anything that could control a terminal. The extra escapes occur in strings only, so the
    /// document stays the same.
    var printableText: String {
        let text = self.text
        guard text.utf8.contains(where: { $0 >= 0x7F }), text.unicodeScalars.contains(where: \.isUnprintable) else {
            return text
        }
        var printable = ""
        for scalar in text.unicodeScalars {
            if scalar.isUnprintable {
                printable += scalar.escapedForJSON
            } else {
                printable.unicodeScalars.append(scalar)
            }
        }
        return printable
    }
}

extension Unicode.Scalar {
    fileprivate var escaped: String { "\\u{\(String(value, radix: 16))}" }

    /// RFC 8259 §7; a pair of surrogates beyond U+FFFF.
    fileprivate var escapedForJSON: String {
        UTF16.encode(self)?.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined() ?? ""
    }

    /// Control characters, line separators and format characters, which include those that reverse the text direction.
    fileprivate var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
