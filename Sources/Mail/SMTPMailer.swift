import Text
import Transfer
import Values

/// Sends mail through a mail server, each mail on its own connection and thread.
///
/// The connection is safe from reading and tampering, unless the operator chose otherwise (`SMTPServer`).
public struct SMTPMailer: Mailer {
    public let server: SMTPServer
    private let sender: Sender

    /// From the first packet until the server has accepted the mail.
    public static let longestWait: Duration = .seconds(60)
    private static let longestConnecting: Duration = .seconds(10)

    public init(server: SMTPServer, from sender: Sender) {
        self.server = server
        self.sender = sender
    }

    public func send(_ mail: MailMessage, _ messageID: MessageID) async throws {
        guard let recipient = MailAddress(mail.recipient) else { throw MailFailure.noAddress }
        let text = Message(mail, from: sender, to: recipient, messageID).text
        guard
            let message = SMTPMessage(
                Array(text.utf8), from: sender.address.description, to: recipient.description)
        else { throw MailFailure.noAddress }
        try await converse { try await $0.send(message) }
    }

    /// Checks everything up to the envelope of a mail: greeting, TLS, signing in. Throws `MailFailure`. Sends nothing.
    public func check() async throws { try await converse { try await $0.check() } }

    private func converse(_ work: (SMTPClient) async throws -> Void) async throws {
        let client = SMTPClient(
            server.destination(as: sender.address.domain), time: Self.longestWait, connecting: Self.longestConnecting)
        do {
            try await work(client)
        } catch let failure as SMTPFailure {
            throw MailFailure(failure)
        }
    }
}

extension SMTPServer {
    /// The server in libcurl's terms; `name` is the name for EHLO.
    fileprivate func destination(as name: String) -> SMTPDestination {
        let security: SMTPDestination.Security =
            switch security {
            case .tls: .tls
            case .startTLS: .startTLS
            case .none: .none
            }
        return SMTPDestination(
            host: host, port: port, security: security,
            credentials: credentials.map { ($0.user, Secret($0.password.value)) }, authorities: authorities, name: name)
    }
}

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

extension MailFailure {
    /// The meaning of `failure` for the mail.
    ///
    /// A 5xx to the envelope or to the message is final (RFC 5321 §4.2.1). A demand for TLS or other credentials (RFC
    /// 3207 §4, RFC 4954 §6), a 5xx before the envelope and one to its sender concern our settings, which the operator
    /// can correct.
    init(_ failure: SMTPFailure) {
        switch failure {
        case .refusedEnvelope(let answer): self.init(answer, to: "envelope")
        case .refusedMessage(let answer): self.init(answer, to: "message")
        case .refusedSender(let answer): self = .temporary("the mail server answered \(answer) to the sender")
        default: self = .temporary(Self.reason(failure))
        }
    }

    /// The server's text may contain the address, so the log gets only the number.
    private init(_ answer: Int, to step: String) {
        let reason = "the mail server answered \(answer) to the \(step)"
        let isFinal = answer >= 500 && ![530, 534, 535, 538].contains(answer)
        self = isFinal ? .refused(reason) : .temporary(reason)
    }

    private static func reason(_ failure: SMTPFailure) -> String {
        switch failure {
        case .refusedSender(let answer), .refusedEnvelope(let answer), .refusedMessage(let answer),
            .answered(let answer):
            "the mail server answered \(answer)"
        case .unknownHost: "the mail server's name has no address"
        case .nameServiceBusy: "the name service does not answer"
        case .unreachable: "the mail server cannot be reached"
        case .timedOut: "the mail server does not answer in time"
        case .withoutTLS: "the mail server does not offer STARTTLS"
        case .untrusted: "the mail server's certificate does not verify"
        case .unreadableAuthorities: "the file of authorities cannot be read"
        case .badCredentials: "the mail server rejects this user and password"
        case .other(let words): "no conversation with the mail server: " + words.lowercased()
        }
    }
}
