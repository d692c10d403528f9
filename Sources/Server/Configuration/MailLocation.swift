public import Delivery
public import Keys
public import Logging
public import Mail
import Outbound
import Values

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

/// Where text messages go: a folder, or the operator's gateway.
public enum TextLocation: Sendable, CustomStringConvertible {
    case folder(path: String)
    /// Its URL may contain a key in its query.
    case gateway(url: String, secret: String)

    /// The folder, or the gateway's host.
    public var description: String {
        switch self {
        case .folder(let path): "the folder \(path)"
        case .gateway(let url, _):
            String(url.prefix { $0 != "?" }.split(separator: "/", maxSplits: 2).dropFirst().first ?? "the gateway")
        }
    }

    /// What sends text messages there.
    public func sender(_ logger: Logger) -> any TextSender {
        switch self {
        case .folder(let path): return TextFolder(path: path)
        case .gateway(let url, let secret):
            let outbound = Outbound(policy: .toOperators(), logger: logger)
            return TextGateway(url: url, secret: secret, outbound: outbound, clock: SystemClock())
        }
    }
}

extension ConfigurationReading {
    /// Where text messages go; nil when there are none, or it is faulty.
    mutating func texts(_ isWebAddress: (String) -> Bool) -> TextLocation? {
        let secret = value(.smsSecret, "16 to 200 bytes, which the gateway has too") { text in
            (16...200).contains(text.utf8.count) ? text : nil
        }
        let location = value(.sms, "file: and a folder, or an https URL") { text -> TextLocation? in
            if text.hasPrefix("file:") {
                guard case .folder(let path) = MailLocation(text) else { return nil }
                return .folder(path: path)
            }
            return isWebAddress(text) ? .gateway(url: text, secret: secret ?? "") : nil
        }
        if case .gateway = location, secret == nil, place(of: .smsSecret) == nil {
            refuse(.smsSecret, "given: it signs what the gateway at sms gets")
        }
        return location
    }
}

/// Where the master key is: in the configuration itself, or in its own file.
public enum MasterKeyLocation: Sendable {
    case inline(MasterKey)
    case file(MasterKeyFile)

    /// The path of the key file, if the key is in a file.
    var path: String? { if case .file(let file) = self { file.path } else { nil } }

    func source(mayCreate: Bool) -> MasterKeySource {
        switch self {
        case .inline(let key): .given(key)
        case .file(let file): .file(file, mayCreate: mayCreate)
        }
    }
}
