import Values

/// Writes each mail as a file into a folder: for development, and for programs that send it from there.
public struct FolderMailer: Mailer {
    public let folder: String
    private let sender: Sender

    public init(folder: String, from sender: Sender) {
        self.folder = folder
        self.sender = sender
    }

    public func send(_ mail: MailMessage, _ messageID: MessageID) async throws {
        guard let recipient = MailAddress(mail.recipient) else { throw MailFailure.noAddress }
        let message = Message(mail, from: sender, to: recipient, messageID)
        try await OutboxFolder(path: folder).write(Array(message.text.utf8), as: "eml", named: messageID.id)
    }
}

extension MailFailure {
    static let noAddress = MailFailure.refused("the recipient's address is not one that mail can be sent to")
}
