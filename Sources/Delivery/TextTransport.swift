import JSON
public import Mail

/// Delivers text messages through a sender.
public struct TextTransport: Transport {
    private let sender: any TextSender

    public init(sender: any TextSender) { self.sender = sender }

    public var kind: Delivery.Kind { .text }

    public func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        try await sender.send(try TextMessage(stored: content), messageID)
    }
}

/// Writes each text message as a file of JSON into a folder: for development, and for programs that send it from there.
public struct TextFolder: TextSender {
    private let folder: OutboxFolder

    public init(path: String) { folder = OutboxFolder(path: path) }

    public func send(_ message: TextMessage, _ messageID: MessageID) async throws {
        do {
            try await folder.write(message.document(messageID).bytes, as: "sms.json", named: messageID.id)
        } catch MailFailure.refused(let reason) {
            throw Undeliverable.refused(reason)
        } catch MailFailure.temporary(let reason) {
            throw Undeliverable.temporary(reason)
        }
    }
}
