/// Why another server was not asked, or its answer not taken. For the log; names no more than the host.
public enum OutboundError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not an absolute https URL of a plain host, without user, password or fragment.
    case unacceptableURL
    /// http, to a host that is not wholly within the ranges allowed in private.
    case unencrypted
    case unknownHost
    /// The host has an address that is not of the open internet, and not allowed.
    case privateAddress
    /// More than `longest` bytes.
    case tooLarge(longest: Int)
    case timedOut
    /// No connection, a broken one, a certificate that does not verify, or no HTTP.
    case unreachable
    /// As many questions to the name service hang as may.
    case busy
    /// As many questions are under way for this purpose, or for who asks, as may be at once.
    case tooMany
    /// As many questions were caused of late by who asks, or for this purpose, as may be.
    case tooOften

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
