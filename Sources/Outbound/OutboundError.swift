import Transfer

/// Why another server was not asked, or its response not accepted. For the log: contains no more than the host.
public enum OutboundError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not an absolute https URL of a plain host, without user, password or fragment.
    case unacceptableURL
    /// http, to a host with addresses outside the allowed private ranges.
    case unencrypted
    case unknownHost
    /// The host has an address that is neither public nor allowed.
    case privateAddress
    /// More than `longest` bytes.
    case tooLarge(longest: Int)
    case timedOut
    /// No connection, a broken one, a certificate that does not verify, or no HTTP.
    case unreachable
    /// Too many look-ups are running.
    case busy
    /// Too many requests are running for this purpose or this requester.
    case tooMany
    /// Too many recent requests by this requester or for this purpose.
    case tooOften

    /// Whether our own rate limit prevented the request.
    public var isOurs: Bool {
        switch self {
        case .busy, .tooMany, .tooOften: true
        case .unacceptableURL, .unencrypted, .unknownHost, .privateAddress, .tooLarge, .timedOut, .unreachable: false
        }
    }

    public var description: String {
        switch self {
        case .unacceptableURL: "not an https URL without user, password and fragment"
        case .unencrypted: "not https"
        case .unknownHost: "the host has no address"
        case .privateAddress: "the host has an address that is private and not allowed"
        case .tooLarge(let longest): "the answer is longer than \(longest) bytes"
        case .timedOut: "no whole answer in time"
        case .unreachable: "no connection, or not one that can be trusted"
        case .busy: "the name service does not answer"
        case .tooMany: "too many questions are under way"
        case .tooOften: "too many questions of late"
        }
    }
}

extension OutboundError {
    /// The meaning of `error` for a request of at most `limit` bytes.
    init(_ error: any Error, limit: Int) {
        self =
            switch error {
            case TransferError.bodyTooLong: .tooLarge(longest: limit)
            case TransferError.refusedAddress: .privateAddress
            case TransferError.timedOut, NameServiceError.timedOut: .timedOut
            case NameServiceError.busy: .busy
            default: .unreachable
            }
    }
}
