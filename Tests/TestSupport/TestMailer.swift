public import Delivery
public import Mail
import Synchronization

/// Accepts every mail and hands it to the test that waits for it.
public final class TestMailer: Mailer {
    private struct Waiter {
        let address: String
        let continuation: AsyncStream<MailMessage>.Continuation
    }
    private struct Shelf {
        var all: [MailMessage] = []
        /// The mails that no test has taken yet.
        var untaken: [MailMessage] = []
        var waiting: [Waiter] = []
    }
    private let shelf = Mutex(Shelf())

    public init() {}

    /// All sent mails, the oldest first.
    public var letters: [MailMessage] { shelf.withLock { $0.all } }

    public func letters(to address: String) -> [MailMessage] { letters.filter { $0.recipient == address } }

    public func send(_ message: MailMessage, _ id: MessageID) async throws {
        shelf.withLock { shelf in
            shelf.all.append(message)
            guard let index = shelf.waiting.firstIndex(where: { $0.address == message.recipient }) else {
                shelf.untaken.append(message)
                return
            }
            let waiter = shelf.waiting.remove(at: index)
            waiter.continuation.yield(message)
            waiter.continuation.finish()
        }
    }

    public struct NoMail: Error { let address: String }

    /// Takes the oldest mail to `address` that was not taken yet, or waits for one. Throws `NoMail` after 30 seconds.
    public func letter(to address: String) async throws -> MailMessage {
        let (stream, continuation) = AsyncStream<MailMessage>.makeStream()
        shelf.withLock { shelf in
            if let index = shelf.untaken.firstIndex(where: { $0.recipient == address }) {
                continuation.yield(shelf.untaken.remove(at: index))
                continuation.finish()
            } else {
                shelf.waiting.append(Waiter(address: address, continuation: continuation))
            }
        }
        // A mail that never comes must not block the whole test run.
        let limit = Task {
            try await Task.sleep(for: .seconds(30))
            continuation.finish()
        }
        defer { limit.cancel() }
        for await message in stream { return message }
        throw NoMail(address: address)
    }
}

/// A text message is a mail to a number.
extension TestMailer: TextSender {
    public func send(_ message: TextMessage, _ id: MessageID) async throws {
        try await send(MailMessage(recipient: message.recipient, subject: "", text: message.text, html: ""), id)
    }
}

extension MailMessage {
    /// The first six digits in a row of its text.
    public var code: String? { text.firstMatch(of: /\b[0-9]{6}\b/).map { String($0.output) } }

    /// The first link of its text that contains `part`.
    public func link(containing part: String) -> String? {
        text.matches(of: /https?:\/\/[^\s<>"]+/).map { String($0.output) }.first { $0.contains(part) }
    }
}
