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
