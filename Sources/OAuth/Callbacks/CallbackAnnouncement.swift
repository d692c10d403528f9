import Audit
public import Directory
import JSON
import Keys
public import Storage
import Synchronization
public import Values

/// The messages that one change sends to the clients of a user, stored in the transaction of the change.
///
/// A message's id derives from the announcement, the client and the content, so that a rerun stores it once.
public final class CallbackAnnouncement: Sendable {
    private let callbacks: Callbacks
    let now: Timestamp
    private let origin: [UInt8]
    private let request = CurrentRequest.origin
    private let isSaid = Atomic(false)

    init(_ callbacks: Callbacks, at now: Timestamp, origin: [UInt8]) {
        self.callbacks = callbacks
        self.now = now
        self.origin = origin
    }

    /// Where `actor` stores events of the same change.
    func trail(of actor: Actor) -> AuditTrail { AuditTrail(by: actor, at: now, seed: origin, origin: request) }

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

/// What clients are told about a user. Read the receivers before the change deletes the rows that name them.
extension CallbackAnnouncement {
    /// The columns that `leave` needs of each receiver, a row of `clients c`.
    private static let receiver: SQL.Columns = "c.id, c.merchant_id, c.callback_uri, c.sealed_sign_secret"
    private static let isOwn = ClientRight.shareWithMerchant.held(by: "c")

    /// Tells every live client of the user which `fields` of `user` changed. `status` is the new status, if that
    /// changed. Values are never sent: a client asks for them.
    public func changed(
        _ user: UserID, fields: [String], status: String?, in db: any Transaction
    ) throws {
        let told = try db.rows(
            """
            SELECT \(Self.receiver)
            FROM connections k JOIN clients c ON c.id = k.client_id LEFT JOIN merchants m ON m.id = c.merchant_id
            WHERE k.user_id = \(user) AND c.callback_uri IS NOT NULL AND c.disabled_at IS NULL
                AND m.disabled_at IS NULL
            """)
        let isUrgent = status != nil || fields.contains("password")
        let status = status.map { [JSON.Member("status", .string($0))] } ?? []
        try leave(.user, [Self.changed(fields)] + status, of: user, isUrgent: isUrgent, for: told, db)
    }

    /// Tells every client of the user about the deletion. Must run in the transaction that deletes the user, before the
    /// deletion.
    ///
    /// Disabled clients are told too: they must delete their data about the user.
    public func deleted(_ user: UserID, in db: any Transaction) throws {
        let told = try db.rows(
            """
            SELECT \(Self.receiver) FROM connections k JOIN clients c ON c.id = k.client_id
            WHERE k.user_id = \(user) AND c.callback_uri IS NOT NULL
            """)
        try leave(.user, [Self.changed(["status"]), .init("status", "deleted")], of: user, for: told, db)
    }

    /// Tells the live clients that could act for the user that the user signed out of a browser. If the session was
    /// good for one merchant alone, only the clients of `merchant` are told.
    public func signedOut(_ user: UserID, from merchant: Merchant.ID? = nil, in db: any Transaction) throws {
        let ofMerchant: SQL = merchant.map { "AND c.merchant_id = \($0)" } ?? ""
        let told = try db.rows(
            """
            SELECT \(Self.receiver)
            FROM connections k JOIN clients c ON c.id = k.client_id LEFT JOIN merchants m ON m.id = c.merchant_id
            WHERE k.user_id = \(user) \(ofMerchant)
                AND c.callback_uri IS NOT NULL AND c.disabled_at IS NULL AND m.disabled_at IS NULL
                AND EXISTS (
                    SELECT 1 FROM token_families f WHERE f.user_id = \(user) AND f.client_id = c.id
                        AND f.ended_at IS NULL AND f.expires_at > \(now))
            """)
        try leave(.session, Self.ended, of: user, for: told, db)
    }

    /// Tells that `family` ended, because the user signed out in an app or because a session bought with the app's
    /// token ended. Tells the app and, if it is first-party, its merchant's other first-party apps. The end of a third
    /// party's family is not told.
    ///
    /// Must run before anything that depends on `family` ends.
    public func signedOut(of family: TokenFamily.ID, in db: any Transaction) throws {
        let source = try db.rows(
            """
            SELECT f.user_id, f.client_id, CASE WHEN \(Self.isOwn) THEN c.merchant_id END AS merchant_id
            FROM token_families f JOIN clients c ON c.id = f.client_id
            WHERE f.id = \(family) AND f.user_id IS NOT NULL
            """
        ).first
        guard let source else { return }
        let user: UserID = try source.get("user_id")
        let client: Client.ID = try source.get("client_id")
        let merchant: Merchant.ID? = try source.get("merchant_id")
        let told = try db.rows(
            """
            SELECT \(Self.receiver)
            FROM connections k JOIN clients c ON c.id = k.client_id LEFT JOIN merchants m ON m.id = c.merchant_id
            WHERE k.user_id = \(user) AND (c.id = \(client) OR (c.merchant_id = \(merchant) AND \(Self.isOwn)))
                AND c.callback_uri IS NOT NULL AND c.disabled_at IS NULL AND m.disabled_at IS NULL
                AND EXISTS (
                    SELECT 1 FROM token_families f WHERE f.user_id = \(user) AND f.client_id = c.id
                        AND (f.ended_at IS NULL OR f.id = \(family)) AND f.expires_at > \(now))
            """)
        try leave(.session, Self.ended + [.init("clientId", .string(client.text))], of: user, for: told, db)
    }

    /// Tells `client` that the user revoked everything they gave it.
    func revoked(_ user: UserID, by client: Client.ID, in db: any Transaction) throws {
        let told = try db.rows(
            """
            SELECT \(Self.receiver) FROM clients c
            WHERE c.id = \(client) AND c.callback_uri IS NOT NULL
            """)
        try leave(.session, Self.revoked, of: user, for: told, db)
    }

    /// Tells the clients of `merchant` that the user has used about the disconnection.
    func disconnected(_ user: UserID, from merchant: Merchant.ID, in db: any Transaction) throws {
        let told = try db.rows(
            """
            SELECT \(Self.receiver) FROM connections k JOIN clients c ON c.id = k.client_id
            WHERE k.user_id = \(user) AND c.merchant_id = \(merchant) AND \(ClientRight.belongToMerchant.held(by: "c"))
                AND c.callback_uri IS NOT NULL
            """)
        try leave(.session, Self.revoked, of: user, for: told, db)
    }

    /// Tells all clients that the user has used, except `kept`, about the disconnection.
    func forgotten(_ user: UserID, except kept: String, in db: any Transaction) throws {
        let told = try db.rows(
            """
            SELECT \(Self.receiver) FROM connections k JOIN clients c ON c.id = k.client_id
            WHERE k.user_id = \(user) AND k.client_id <> \(kept) AND c.callback_uri IS NOT NULL
            """)
        try leave(.session, Self.revoked, of: user, for: told, db)
    }

    private static func changed(_ fields: [String]) -> JSON.Member {
        .init("changedFields", .string(fields.joined(separator: ",")))
    }
    private static let ended: [JSON.Member] = [changed(["status"]), .init("status", "ended")]
    private static let revoked: [JSON.Member] = [changed(["status"]), .init("status", "revoked")]
}
