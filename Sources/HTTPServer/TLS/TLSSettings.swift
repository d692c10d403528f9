/// The files of a server's certificate.
public struct TLSSettings: Sendable, Hashable {
    /// The certificate and its chain, PEM, the server's own first.
    public var certificate: String
    /// The certificate's private key, PEM, not encrypted.
    public var key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Reads both files as the server does at start, and returns when the certificate ends, in seconds since 1970.
    public func certificateEnd() throws(TLSError) -> Int64 {
        try TLSContext(self, tickets: TicketKeys()).certificateEnd
    }
}
