import Text
import Values

/// The mail server that accepts our mail, and how to reach it.
///
/// `smtp://user:password@host:port` uses STARTTLS, which is required; `smtps://…` uses TLS from the first byte (RFC
/// 8314). Certificates are verified. The query may have options: `ca=FILE` trusts the authorities in a PEM file instead
/// of the system's; `starttls=never-insecure` sends everything in the clear, including the password. That is the
/// default for a server on this machine; there, `starttls=required` requires TLS.
public struct SMTPServer: Sendable, Hashable, CustomStringConvertible {
    public enum Security: Sendable, Hashable { case tls, startTLS, none }

    public struct Credentials: Sendable, Hashable {
        let user: String
        let password: Secret<SMTPServer>

        public static func == (a: Credentials, b: Credentials) -> Bool {
            (a.user, a.password.value) == (b.user, b.password.value)
        }
        public func hash(into hasher: inout Hasher) { hasher.combine(user) }
    }

    /// Without the brackets of an IPv6 address.
    public let host: String
    public let port: Int
    public let security: Security
    public let credentials: Credentials?
    /// A PEM file.
    public let authorities: String?

    /// Nil for any other URL.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }), let url = URIParts(text),
            let scheme = url.scheme,
            let host = url.host?.trimmingScalars(while: { $0 == "[" || $0 == "]" }),
            Self.isHost(host), ["", "/"].contains(url.path), url.fragment == nil,
            let options = Self.options(of: url),
            let security = Self.security(scheme, options["starttls"], isLoopback: Self.isLoopback(host))
        else { return nil }
        // RFC 8314 §3.3, RFC 6409 §3.1
        let port = url.port ?? (security == .tls ? 465 : 587)
        let (user, password) = (url.user ?? "", url.password ?? "")
        // Both or none. A control character would end the command.
        guard (1...65535).contains(port), user.isEmpty == password.isEmpty,
            !(user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        self.host = host
        self.port = port
        self.security = security
        self.credentials = user.isEmpty ? nil : Credentials(user: user, password: Secret(password))
        self.authorities = options["ca"]
    }

    /// Without user and password.
    public var description: String { "\(security == .tls ? "smtps" : "smtp")://\(authority)" }

    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether mail can be read on its way to the server.
    public var isReadable: Bool { security == .none && !Self.isLoopback(host) }
}

extension SMTPServer {
    private static func security(_ scheme: String, _ option: String?, isLoopback: Bool) -> Security? {
        switch (scheme, option) {
        case ("smtps", nil): .tls
        case ("smtp", nil): isLoopback ? Security.none : .startTLS
        case ("smtp", "required"): .startTLS
        case ("smtp", "never-insecure"): Security.none
        default: nil
        }
    }

    /// Nil when an option is unknown, empty or repeated.
    private static func options(of url: URIParts) -> [String: String]? {
        var options: [String: String] = [:]
        for item in url.queryItems {
            guard ["ca", "starttls"].contains(item.name), let value = item.value, !value.isEmpty,
                options.updateValue(value, forKey: item.name) == nil
            else { return nil }
        }
        return options
    }

    private static func isHost(_ host: String) -> Bool {
        IPAddress(host) != nil
            || !host.isEmpty && host.utf8.count <= 253
                && host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }

    private static func isLoopback(_ host: String) -> Bool {
        guard let address = IPAddress(host) else { return host.lowercased() == "localhost" }
        return ["127.0.0.0/8", "::1/128"].contains { CIDR($0)?.contains(address) == true }
    }
}
