import Synchronization
import Threads
import Values

/// An SMTP client over libcurl. Each message has its own connection and thread.
///
/// libcurl blocks its thread while it waits for the server's reply to a message, and to QUIT. If many transfers shared
/// a thread, one slow mail server would hold them all.
public struct SMTPClient: Sendable {
    private let destination: SMTPDestination
    private let time: Duration
    private let connecting: Duration
    /// Shared by all clients, because it limits the threads of the process.
    private static let names = NameService()

    /// `time` limits the whole, `connecting` the look-up and the connection together.
    public init(_ destination: SMTPDestination, time: Duration, connecting: Duration) {
        self.destination = destination
        self.time = time
        self.connecting = connecting
    }

    /// Returns when the server has accepted `message`. Throws `SMTPFailure`, or `CancellationError` when the task is
    /// cancelled.
    public func send(_ message: SMTPMessage) async throws { try await converse { try $0.send(message) } }

    /// Connects, signs in and sends NOOP (RFC 5321 §4.1.1.9). Throws like `send`.
    public func check() async throws { try await converse { try $0.check() } }

    private func converse(_ work: @escaping @Sendable (SMTPConversation) throws -> Void) async throws {
        let start = ContinuousClock.now
        let addresses = try await addresses()
        let spent = start.duration(to: .now)
        let limits = (time: time - spent, connecting: connecting - spent)
        let cancellation = SMTPConversation.Cancellation()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (outcome: CheckedContinuation<Void, any Error>) in
                do throws(SystemThread.Unavailable) {
                    try SystemThread.start(named: "spindle-mail") {
                        let conversation = Result {
                            try SMTPConversation(
                                destination, at: addresses, time: limits.time, connecting: limits.connecting,
                                cancellation)
                        }
                        outcome.resume(with: Result { try work(conversation.get()) })
                        // Dropping the conversation sends QUIT, which may take a while.
                        withExtendedLifetime(conversation) {}
                    }
                } catch {
                    outcome.resume(throwing: SMTPFailure.other("\(error)"))
                }
            }
        } onCancel: {
            cancellation.isWanted.store(true, ordering: .relaxed)
        }
    }

    private func addresses() async throws -> [IPAddress] {
        if let literal = IPAddress(destination.host) { return [literal] }
        let addresses: [IPAddress]
        do {
            addresses = try await Self.names.addresses(of: destination.host, within: connecting)
        } catch let error as NameServiceError {
            throw error == .busy ? SMTPFailure.nameServiceBusy : SMTPFailure.timedOut
        }
        guard !addresses.isEmpty else { throw SMTPFailure.unknownHost }
        return addresses
    }
}
