public import Values

/// A mail server, and how to sign in to it.
public struct SMTPDestination: Sendable {
    public enum Security: Sendable, Hashable {
        /// TLS from the first byte (RFC 8314).
        case tls
        /// STARTTLS, required before anything else is sent (RFC 3207).
        case startTLS
        /// In the clear.
        case none
    }

    /// Without the brackets of an IPv6 address.
    public let host: String
    public let port: Int
    public let security: Security
    public let credentials: (user: String, password: Secret<SMTPDestination>)?
    /// A PEM file of certificate authorities to trust instead of the system's.
    public let authorities: String?
    /// The name for EHLO (RFC 5321 §4.1.1.1).
    public let name: String

    public init(
        host: String, port: Int, security: Security,
        credentials: (user: String, password: Secret<SMTPDestination>)? = nil, authorities: String? = nil, name: String
    ) {
        self.host = host
        self.port = port
        self.security = security
        self.credentials = credentials
        self.authorities = authorities
        self.name = name
    }

    var scheme: String { security == .tls ? "smtps" : "smtp" }

    /// Whether none of its texts could end a command or a C string.
    var isAcceptable: Bool {
        let texts = [host, name, credentials?.user ?? "", credentials?.password.value ?? ""]
        return texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
            && SMTPMessage.isPrintable(name) && authorities?.utf8.contains(0) != true
    }
}
