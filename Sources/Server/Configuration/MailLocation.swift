public import Mail

/// Where mail goes: a folder, or a mail server.
public enum MailLocation: Sendable, CustomStringConvertible {
    case folder(path: String)
    /// Its URL may contain a password.
    case server(SMTPServer)

    /// Reads `file:` and a path, `smtp://…` or `smtps://…`; nil for anything else.
    public init?(_ text: String) {
        guard text.hasPrefix("file:") else {
            guard let server = SMTPServer(text) else { return nil }
            self = .server(server)
            return
        }
        // RFC 8089 §2: the text between the second and the third slash is a host, which must be this machine.
        let rest = text.dropFirst("file:".count)
        let path = rest.hasPrefix("//") ? rest.dropFirst(2) : rest
        guard !path.isEmpty, path.hasPrefix("/") || !rest.hasPrefix("//") else { return nil }
        self = .folder(path: String(path))
    }

    /// The folder, or the server without user and password.
    public var description: String {
        switch self {
        case .folder(let path): "the folder \(path)"
        case .server(let server): server.description
        }
    }

    /// The mailer that sends mail there.
    public func mailer(from sender: Sender) -> any Mailer {
        switch self {
        case .folder(let path): FolderMailer(folder: path, from: sender)
        case .server(let server): SMTPMailer(server: server, from: sender)
        }
    }
}
