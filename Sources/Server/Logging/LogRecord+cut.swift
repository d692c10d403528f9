import Logging
import Values

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
