import Synchronization
import Threads
public import Values

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

/// A message and its envelope.
public struct SMTPMessage: Sendable {
    public let sender: String
    public let recipient: String
    /// Lines that end in CRLF; dots are doubled on the way (RFC 5321 §4.5.2).
    public let bytes: [UInt8]

    /// Nil for an address that could end its command, and for a message with a bare CR or LF: some servers take that
    /// for the end of the message and read commands after it (RFC 5321 §2.3.8).
    public init?(_ bytes: [UInt8], from sender: String, to recipient: String) {
        guard Self.isAddress(sender), Self.isAddress(recipient), Self.hasWholeLineEnds(bytes) else { return nil }
        self.bytes = bytes
        self.sender = sender
        self.recipient = recipient
    }

    private static func isAddress(_ text: String) -> Bool { isPrintable(text) && !text.contains(where: "<>".contains) }

    /// ASCII without blanks and control bytes, and not empty.
    static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func hasWholeLineEnds(_ bytes: [UInt8]) -> Bool {
        var previous: UInt8 = 0
        for byte in bytes {
            guard (previous == 0x0D) == (byte == 0x0A) else { return false }
            previous = byte
        }
        return previous != 0x0D
    }
}
