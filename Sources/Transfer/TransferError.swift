/// Why a transfer failed. Contains neither the URL nor anything that was sent.
public enum TransferError: Error, Sendable, Equatable {
    /// A method, field or address that cannot be sent: it contains a control byte, or is no token (RFC 9110 §5.1).
    case unacceptable
    /// The client must not connect to the address.
    case refusedAddress
    /// No connection within its limit.
    case connectTimedOut
    /// No complete response within its limit.
    case timedOut
    case headTooLong
    case bodyTooLong
    /// The certificate does not verify.
    case untrusted
    /// Anything else, in libcurl's words.
    case failed(String)
}
