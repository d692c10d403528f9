public import Logging
import Values

/// How much of clients' IP addresses the log shows, wherever a line has one.
public enum LoggedAddresses: String, Sendable, CaseIterable {
    case full
    /// The network around it: an IPv4 /24, an IPv6 /48.
    case truncated
    case none

    /// The members that hold a client's address.
    private static let member = "address"

    /// `record`, with the address that it may show. What is no IP address, such as a port that is listened on, stays.
    public func shown(in record: LogRecord) -> LogRecord {
        guard self != .full, case .string(let text)? = record.metadata[Self.member], let address = IPAddress(text)
        else { return record }
        var metadata = record.metadata
        metadata[Self.member] = self == .none ? nil : .string(address.network)
        return LogRecord(
            level: record.level, label: record.label, message: record.message, metadata: metadata,
            isOfServer: record.isOfServer)
    }
}
