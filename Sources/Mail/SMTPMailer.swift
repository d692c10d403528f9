import Foundation
import Synchronization

/// Hands mail to a mail server, each letter on a connection and a thread of its own.
///
/// Whoever can reach the server on the way learns nothing and changes nothing, unless the operator said otherwise
/// (`SMTPServer`).
public struct SMTPMailer: Mailer {
    public let server: SMTPServer
    private let sender: Sender

    /// From the first packet to the server's word that it has the letter.
    public static let longestWait: Duration = .seconds(60)

    public init(server: SMTPServer, from sender: Sender) {
        self.server = server
        self.sender = sender
    }

    public func send(_ letter: Letter, _ postmark: Postmark) async throws {
        guard let recipient = MailAddress(letter.recipient) else { throw MailFailure.noAddress }
        let message = Message(letter, from: sender, to: recipient, postmark)
        try await session { session in
            try session.send(Array(message.text.utf8), from: sender.address, to: recipient)
        }
    }

    /// Goes as far as a letter's envelope: greeting, TLS, signing in. Throws `MailFailure`. Sends nothing.
    public func check() async throws {
        try await session { try $0.check() }
    }

    private func session(_ work: @escaping @Sendable (SMTPSession) throws -> Void) async throws {
        let cancellation = SMTPSession.Cancellation()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (outcome: CheckedContinuation<Void, any Error>) in
                startThread("spindle-mail") {
                    ignoreBrokenPipes()
                    let session = Result { try SMTPSession(to: server, as: sender.address.domain, cancellation) }
                    outcome.resume(with: Result { try work(session.get()) })
                    // What is left may take a while: a farewell, a name service that does not answer.
                    withExtendedLifetime(session) {}
                }
            }
        } onCancel: {
            cancellation.isWanted.store(true, ordering: .relaxed)
        }
    }
}

/// A server that hangs up while OpenSSL writes must not end the program. The signal is the writing thread's own.
private func ignoreBrokenPipes() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}
