import Transfer
import Values

/// Hands mail to a mail server, each letter on a connection and a thread of its own.
///
/// Whoever can reach the server on the way learns nothing and changes nothing, unless the operator said otherwise
/// (`SMTPServer`).
public struct SMTPMailer: Mailer {
    public let server: SMTPServer
    private let sender: Sender

    /// From the first packet to the server's word that it has the letter.
    public static let longestWait: Duration = .seconds(60)
    private static let longestConnecting: Duration = .seconds(10)

    public init(server: SMTPServer, from sender: Sender) {
        self.server = server
        self.sender = sender
    }

    public func send(_ letter: MailMessage, _ postmark: MessageID) async throws {
        guard let recipient = MailAddress(letter.recipient) else { throw MailFailure.noAddress }
        let text = Message(letter, from: sender, to: recipient, postmark).text
        guard
            let message = SMTPMessage(
                Array(text.utf8), from: sender.address.description, to: recipient.description)
        else { throw MailFailure.noAddress }
        try await converse { try await $0.send(message) }
    }

    /// Goes as far as a letter's envelope: greeting, TLS, signing in. Throws `MailFailure`. Sends nothing.
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
    /// The server as libcurl is told of it; `name` is what we call ourselves.
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
