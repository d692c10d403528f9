public import Directory
import JSON
public import Values

/// That a browser session ended in which somebody had signed in to a client (Back-Channel Logout §2.5). What the client
/// is told is signed when it is told: an old word is worth nothing.
public struct LogoutNotice: Sendable, Equatable {
    /// How long it is worth telling: by then nobody is signed in anywhere of that session.
    public static let use: Duration = .days(1)

    public let id: Identifier<LogoutNotice>
    public let client: Client.ID
    public let user: UserID
    /// `sid`.
    public let session: Session.ID

    init(id: Identifier<LogoutNotice>, client: Client.ID, user: UserID, session: Session.ID) {
        self.id = id
        self.client = client
        self.user = user
        self.session = session
    }

    /// How it waits to be sent.
    public var text: String {
        JSON.members([
            "id": .string(id.text), "client": .string(client.text), "account": .string(user.description),
            "session": .string(session.text),
        ]).text
    }

    /// One that waited; nil when `text` is none.
    public init?(_ text: String) {
        guard let json = try? JSON(stored: text), let id = json["id"]?.string,
            let client = json["client"]?.string, let session = json["session"]?.string,
            let user = json["account"]?.string.flatMap({ UserID($0) })
        else { return nil }
        self.init(id: Identifier(id), client: Client.ID(client), user: user, session: Session.ID(session))
    }
}
