public import Directory
import JSON
public import Values

/// The end of a browser session in which a user had signed in to a client (Back-Channel Logout §2.5). The logout token
/// is signed when it is sent, because an old one is worthless.
public struct LogoutNotice: Sendable, Equatable {
    /// How long a notice is worth sending: by then sites have ended their own session.
    public static let use: Duration = .days(1)

    public let id: Identifier<LogoutNotice>
    public let client: Client.ID
    public let user: UserID
    /// The `sub` that an import kept for the user, who may be gone when the token is signed.
    public let keptSubject: String?
    /// `sid`.
    public let session: Session.ID

    init(
        id: Identifier<LogoutNotice>, client: Client.ID, user: UserID, keptSubject: String?, session: Session.ID
    ) {
        self.id = id
        self.client = client
        self.user = user
        self.keptSubject = keptSubject
        self.session = session
    }

    /// The text under which it is stored until it is sent.
    public var text: String {
        var members: [JSON.Member] = [
            .init("id", .string(id.text)), .init("client", .string(client.text)),
            .init("account", .string(user.description)), .init("session", .string(session.text)),
        ]
        if let keptSubject { members.append(.init("subject", .string(keptSubject))) }
        return JSON.object(members).text
    }

    /// Reads a stored notice; nil when `text` is not one.
    public init?(_ text: String) {
        guard let json = try? JSON(stored: text), let id = json["id"]?.string,
            let client = json["client"]?.string, let session = json["session"]?.string,
            let user = json["account"]?.string.flatMap({ UserID($0) })
        else { return nil }
        self.init(
            id: Identifier(id), client: Client.ID(client), user: user, keptSubject: json["subject"]?.string,
            session: Session.ID(session))
    }
}
