public import Values

/// A mail server, and what we are to it.
public struct SMTPDestination: Sendable {
    public enum Security: Sendable, Hashable {
        /// From the first byte (RFC 8314).
        case tls
        /// By STARTTLS, without which nothing is said (RFC 3207).
        case startTLS
        /// In the clear.
        case none
    }

    /// Without the brackets of an IPv6 address.
    public let host: String
    public let port: Int
    public let security: Security
    public let credentials: (user: String, password: Secret<SMTPDestination>)?
    /// A PEM file of those to trust instead of the system's.
    public let authorities: String?
    /// What we call ourselves (RFC 5321 §4.1.1.1).
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

    /// Whether nothing in it ends a command or a C string.
    var isAcceptable: Bool {
        let texts = [host, name, credentials?.user ?? "", credentials?.password.value ?? ""]
        return texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
            && SMTPMessage.isPrintable(name) && authorities?.utf8.contains(0) != true
    }
}
