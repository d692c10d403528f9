import JSON
public import Mail

/// A text message to a telephone.
public struct TextMessage: Sendable, Equatable {
    /// The number, as E.164 writes it.
    public let recipient: String
    public let text: String

    public init(recipient: String, text: String) {
        self.recipient = recipient
        self.text = text
    }
}

/// Sends text messages on.
public protocol TextSender: Sendable {
    /// Sends `message`, or throws `Undeliverable`. The message id is the same at each attempt.
    func send(_ message: TextMessage, _ messageID: MessageID) async throws
}

extension TextMessage {
    /// What a gateway gets, and what a file of the outbox contains. The id is the same at each attempt.
    func document(_ messageID: MessageID) -> JSON {
        .members(["id": .string(messageID.id), "to": .string(recipient), "text": .string(text)])
    }

    /// The stored form.
    var stored: String { JSON.members(["to": .string(recipient), "text": .string(text)]).text }

    init(stored: String) throws {
        let members = try StoredMembers(stored)
        self.init(recipient: try members.text("to"), text: try members.text("text"))
    }
}
