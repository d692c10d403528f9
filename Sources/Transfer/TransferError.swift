/// Why a transfer came to nothing. Names neither the URL nor anything that was sent.
public enum TransferError: Error, Sendable, Equatable {
    /// A method, field or address that cannot be sent: a control byte in it, or no token (RFC 9110 §5.1).
    case unacceptable
    /// The address may not be connected to.
    case refusedAddress
    /// No connection within the limit for one.
    case connectTimedOut
    /// No whole answer within the limit for one.
    case timedOut
    case headTooLong
    case bodyTooLong
    /// The certificate does not verify.
    case untrusted
    /// Anything else, in libcurl's words.
    case failed(String)
}
