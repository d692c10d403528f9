import Directory
import Keys
import Values

// The text of a code is its id, which begins with the time, and everything else sealed under the master key
// (docs/decisions/codes-are-sealed.md). It is handled as bytes: characters cost five times as much.

extension ExchangeCode {
    private static let separator = UInt8(ascii: "\n")

    /// The text of the code.
    func sealed(by seal: Seal) -> Secret<ExchangeCode> {
        var content: [UInt8] = []
        content.reserveCapacity(192)
        for field in [
            source.text, client.text, subject.user.description, String(subject.signedInAt.milliseconds),
            scope.description,
        ] {
            content += field.utf8
            content.append(Self.separator)
        }
        // Last, so that it may contain any byte.
        if let redirectURI { content += redirectURI.text.utf8 }
        return Secret(id.text + seal.sealCode(content, id: id.text))
    }

    /// Opens `text`, if this server sealed it. The code may be spent or expired.
    init?(opening text: String, by seal: Seal) {
        let idLength = Identifier<ExchangeCode>.orderedLength
        guard let id = String(text.utf8.prefix(idLength)), let sealed = String(text.utf8.dropFirst(idLength)),
            let content = seal.openCode(sealed, id: id)
        else { return nil }
        let fields = content.split(separator: Self.separator, maxSplits: 5, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count == 6, let user = UserID(fields[2]), let signedInAt = Int64(fields[3]),
            let scope = Scope(parsing: fields[4])
        else { return nil }
        self.init(
            id: Identifier(id), source: TokenFamily.ID(fields[0]), client: Client.ID(fields[1]),
            subject: Subject(user: user, signedInAt: Timestamp(milliseconds: signedInAt)), scope: scope,
            redirectURI: fields[5].isEmpty ? nil : RedirectURI(stored: fields[5]))
    }
}
