import Directory
import JSON
import Keys
import Storage
import Synchronization
import Values

/// The messages that one change sends to the clients of a user, stored in the transaction of the change.
///
/// A message's id derives from the announcement, the client and the content, so that a rerun stores it once.
public final class CallbackAnnouncement: Sendable {
    private let callbacks: Callbacks
    let now: Timestamp
    private let origin: [UInt8]
    private let isSaid = Atomic(false)

    init(_ callbacks: Callbacks, at now: Timestamp, origin: [UInt8]) {
        self.callbacks = callbacks
        self.now = now
        self.origin = origin
    }

    /// Sends the messages at once. Call it after the commit.
    public func send() {
        if isSaid.load(ordering: .relaxed) { callbacks.post.send() }
    }

    /// Stores a notice that a browser session in which `client` was used has ended (`TokenFamilies.end(with:)`).
    func leaveNotice(of session: Session.ID, _ user: UserID, for client: Client, _ db: any Transaction) throws {
        let id = Identifier<LogoutNotice>.ordered(at: now, of: origin + "\(session) \(client.id)".utf8)
        let notice = LogoutNotice(
            id: id, client: client.id, user: user, keptSubject: try User.keptSubject(of: user, in: db),
            session: session)
        try callbacks.post.leaveNotice(notice, client, db)
        isSaid.store(true, ordering: .relaxed)
    }

    /// The subject of a message: SPiD's `object`.
    enum Subject: String { case user, session }

    /// Stores `entry` for each client of `rows`, whose columns are `receiver`.
    func leave(
        _ subject: Subject, _ entry: [JSON.Member], of user: UserID, isUrgent: Bool = true, for rows: [Row],
        _ db: any Transaction
    ) throws {
        let content = JSON.object(entry).text
        let entry: [JSON.Member] =
            [.init("userId", .string(user.description))] + entry + [.init("time", .string(now.spidText))]
        let origin = origin + JSON.object(entry).text.utf8
        for row in rows {
            let client: Client.ID = try row.get("id")
            let secret = SignSecret(
                try callbacks.seal.open(try row.get("sealed_sign_secret"), .signSecret, row: client.text))
            let id = Identifier<Callbacks.Message>.ordered(at: now, of: origin + client.text.utf8)
            let payload: JSON = .members([
                "algorithm": "HMAC-SHA256", "id": .string(id.text), "object": .string(subject.rawValue),
                "entry": .array([.object(entry)]),
            ])
            try callbacks.post.leave(
                Callbacks.Message(
                    id: id, client: client, merchant: try row.get("merchant_id"),
                    subject: "\(client) \(user)", content: "\(subject.rawValue) \(content)", isUrgent: isUrgent,
                    uri: try row.get("callback_uri"),
                    body: secret.signed(payload).request), db)
            isSaid.store(true, ordering: .relaxed)
        }
    }
}

extension Timestamp {
    /// The time as SPiD writes it: `2031-02-03 04:05:06`, in UTC.
    fileprivate var spidText: String { iso8601.replacing("T", with: " ").replacing("Z", with: "") }
}
