public import Directory
public import OpenID
public import Storage
public import Values

/// What administrators find: users by what is known of them, and anything by an id.
public struct Finding: Sendable {
    let database: any Database
    private let finder: UserFinder
    let names: SubjectIdentifiers

    public init(database: any Database, names: SubjectIdentifiers) {
        self.init(database: database, names: names, finder: UserFinder(database: database))
    }

    package init(database: any Database, names: SubjectIdentifiers, finder: UserFinder) {
        self.database = database
        self.names = names
        self.finder = finder
    }

    /// At most `count` users after `place` that `search` finds and `administrator` may see. Throws
    /// `UserSearch.TooMany`.
    public func users(
        _ search: UserSearch, by administrator: Administrator, after place: UserSearch.Place?, count: Int
    ) async throws -> [User] {
        guard try await reaches(search, administrator) else { return [] }
        return try await finder.users(search, of: administrator.confines, after: place, count: count)
    }

    /// How many users `search` finds; nil when they are too many to count.
    public func count(_ search: UserSearch, by administrator: Administrator) async throws -> Int? {
        guard try await reaches(search, administrator) else { return 0 }
        return try await finder.count(search, of: administrator.confines)
    }

    /// Whether `administrator` may ask so: a merchant's learns nothing about other merchants' issuers.
    private func reaches(_ search: UserSearch, _ administrator: Administrator) async throws -> Bool {
        guard let merchant = administrator.confines else { return true }
        for case .identity(let issuer, _) in search.keys {
            let own = try await database.rows(
                "SELECT id FROM issuers WHERE id = \(issuer) AND merchant_id = \(merchant) AND gone_at IS NULL")
            if own.isEmpty { return false }
        }
        return true
    }

    /// The user whose `sub`, public or pairwise, is `text` for a client that `administrator` sees. The user may not be
    /// one that it sees.
    public func user(ofSubject text: String, by administrator: Administrator) async throws -> UserID? {
        if let id = try await database.read({ db in try User.id(ofSubject: text, in: db) }) { return id }
        if let id = UserID(text) { return id }
        guard let id = try await names.user(ofPairwise: text) else { return nil }
        // A text that names nothing decrypts to some name too: the clients that know the user decide.
        return try await isKnown(text, to: clients(of: id, administrator)) ? id : nil
    }

    /// The clients that the user `id` has used, as far as `administrator` sees their users.
    private func clients(of id: UserID, _ administrator: Administrator) async throws -> [Client] {
        try await database.read { db in
            let ids: [Client.ID] = try db.rows(
                """
                SELECT n.client_id FROM connections n
                WHERE n.user_id = \(id) AND \(administrator.reaches("n.client_id"))
                """
            ).map { try $0.get("client_id") }
            return try Clients.known(among: ids, in: db).values.map(\.self)
        }
    }

    private func isKnown(_ identifier: String, to clients: [Client]) async throws -> Bool {
        for client in clients where try await names.isOne(identifier, for: client) { return true }
        return false
    }

    /// The browser session with the pairwise `sid` `text`.
    func session(ofSid text: String, by administrator: Administrator) async throws -> Session.ID? {
        guard let id = try await names.session(ofPairwise: text) else { return nil }
        let clients = try await database.read { db -> [Client] in
            let ids: [Client.ID] = try db.rows(
                "SELECT n.client_id FROM session_clients n WHERE n.session_id = \(id)"
            ).map { try $0.get("client_id") }
            return try Clients.known(among: ids, in: db).values.map(\.self)
        }
        return try await isKnown(text, to: clients) ? id : nil
    }
}

extension Administrator {
    /// The condition that `column` names a client whose users the administrator sees: a merchant's sees those of its
    /// own clients, and not of third parties'.
    func reaches(_ column: SQL.Columns) -> SQL {
        guard let confines else { return .always }
        return """
            \(column) IN (SELECT o.id FROM clients o WHERE o.merchant_id = \(confines) AND o.deleted_at IS NULL
                AND \(ClientRight.shareWithMerchant.held(by: "o")))
            """
    }
}
