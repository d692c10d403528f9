import Directory
import OAuth
public import Storage
import Values

/// Finds users. Each search begins in an index, and reads a bounded number of users that it does not show.
public struct UserFinder: Sendable {
    private let database: any Database
    /// What is read in one go, or sorted.
    let few: Int
    /// The most that one search reads.
    let mostRead: Int

    public init(database: any Database) { self.init(database: database, few: 5000, mostRead: 200_000) }

    package init(database: any Database, few: Int, mostRead: Int) {
        self.database = database
        self.few = few
        self.mostRead = mostRead
    }

    /// Whose users are searched: those of the clients that `administrator` sees users of, all at once or one of them.
    private struct Scope {
        /// Selects the ids of its clients; nil for the whole directory.
        let clients: SQL?

        init(_ search: UserSearch, _ merchant: Merchant.ID?) {
            guard let merchant else {
                clients = search.client.map { "SELECT c.id FROM clients c WHERE c.id = \($0)" }
                return
            }
            let one: SQL = search.client.map { "c.id = \($0)" } ?? .always
            clients = """
                SELECT c.id FROM clients c WHERE c.merchant_id = \(merchant) AND c.deleted_at IS NULL
                    AND \(ClientRight.shareWithMerchant.held(by: "c")) AND \(one)
                """
        }

        /// Whether user `u` is connected to one of them.
        var covers: SQL? {
            clients.map { "EXISTS (SELECT 1 FROM connections n WHERE n.user_id = u.id AND n.client_id IN (\($0)))" }
        }
    }

    /// At most `count` users that `search` finds after `place`, for the administrator of `merchant` or the platform's.
    func users(
        _ search: UserSearch, of merchant: Merchant.ID?, after place: UserSearch.Place?, count: Int
    ) async throws -> [User] {
        try await database.scan(for: .of(merchant)) { db in
            let ids = try ids(search, Scope(search, merchant), after: place, count: count, in: db)
            guard !ids.isEmpty else { return [] }
            let users = try db.rows("SELECT \(User.columns) FROM users WHERE id IN (\(list: ids))").map(User.init)
            let byID = Dictionary(users.map { ($0.id, $0) }) { first, _ in first }
            return ids.compactMap { byID[$0] }
        }
    }

    /// How many users `search` finds; nil when they are too many to count.
    func count(_ search: UserSearch, of merchant: Merchant.ID?) async throws -> Int? {
        try await database.scan(for: .of(merchant)) { db in
            let scope = Scope(search, merchant)
            guard search.keys.isEmpty else {
                return try ids(search, scope, after: nil, count: 1, in: db).count
            }
            func number(_ sql: SQL) throws -> Int { try db.rows(sql).first?.get("number") ?? 0 }
            if let clients = scope.clients, try isFew(clients, in: db) {
                return try number(
                    """
                    SELECT COUNT(*) AS number FROM users u
                    WHERE u.id IN (SELECT n.user_id FROM connections n WHERE n.client_id IN (\(clients)))
                        AND \(search.filter(besidesRange: false) ?? .always)
                    """)
            }
            let read = try number(
                """
                SELECT COUNT(*) AS number
                FROM (SELECT 1 AS found FROM users u WHERE \(search.range) LIMIT \(mostRead + 1)) r
                """)
            guard read <= mostRead else { return nil }
            let rest = [search.filter(besidesRange: true), scope.covers].compactMap(\.self)
            guard let first = rest.first else { return read }
            let filter: SQL = rest.dropFirst().reduce(first) { "\($0) AND \($1)" }
            return try number("SELECT COUNT(*) AS number FROM users u WHERE \(search.range) AND \(filter)")
        }
    }

    private func ids(
        _ search: UserSearch, _ scope: Scope, after place: UserSearch.Place?, count: Int, in db: any Transaction
    ) throws -> [UserID] {
        let (after, order) = (search.after(place), search.orderBy())
        func found(_ sql: SQL) throws -> [UserID] { try db.rows(sql).map { try $0.get("id") } }
        if !search.keys.isEmpty {
            let filter = search.filter(besidesRange: false) ?? .always
            return try found(
                """
                SELECT u.id FROM users u
                WHERE \(search.isNamed()) AND \(filter) AND \(scope.covers ?? .always) AND \(after)
                """)
        }
        let rest = [search.filter(besidesRange: true), scope.covers].compactMap(\.self)
        let filter: SQL = rest.dropFirst().reduce(rest.first ?? .always) { "\($0) AND \($1)" }
        guard let clients = scope.clients else {
            guard !rest.isEmpty else {
                return try found(
                    "SELECT u.id FROM users u WHERE \(search.range) AND \(after) ORDER BY \(order) LIMIT \(count)")
            }
            return try visited(search, filter, after: place, count: count, in: db)
        }
        let hasPrefix = search.ownOrder != nil
        if hasPrefix, try isFew(range: search, in: db) {
            return try found(
                """
                SELECT u.id FROM users u WHERE \(search.range) AND \(after) AND \(filter)
                ORDER BY \(order) LIMIT \(count)
                """)
        }
        if try isFew(clients, in: db) {
            let columns = UserSearch.Columns.connected
            return try found(
                """
                SELECT DISTINCT \(columns.all) FROM connections n JOIN users u ON u.id = n.user_id
                WHERE n.client_id IN (\(clients)) AND \(search.filter(besidesRange: false) ?? .always)
                    AND \(search.after(place, columns)) ORDER BY \(search.orderBy(columns)) LIMIT \(count)
                """)
        }
        if search.order == .id, search.filter(besidesRange: false) == nil {
            return try connected(clients, search, after: place, count: count, in: db)
        }
        return try visited(search, filter, after: place, count: count, in: db)
    }

    /// Whether few users have the prefix.
    private func isFew(range search: UserSearch, in db: any Transaction) throws -> Bool {
        try db.rows("SELECT 1 AS found FROM users u WHERE \(search.range) LIMIT \(few + 1)").count <= few
    }

    /// Whether few users are connected to `clients`.
    private func isFew(_ clients: SQL, in db: any Transaction) throws -> Bool {
        try db.rows(
            "SELECT 1 AS found FROM connections n WHERE n.client_id IN (\(clients)) LIMIT \(few + 1)"
        ).count <= few
    }

    /// Each client's first users in index order, which include the first of all.
    private func connected(
        _ clients: SQL, _ search: UserSearch, after place: UserSearch.Place?, count: Int, in db: any Transaction
    ) throws -> [UserID] {
        let ids: [Client.ID] = try db.rows(clients).map { try $0.get("id") }
        let (isDescending, first) = (search.isDescending, place?.id)
        let after: SQL = first.map { isDescending ? "n.user_id < \($0)" : "n.user_id > \($0)" } ?? .always
        let order: SQL = isDescending ? "n.user_id DESC" : "n.user_id"
        var numbers: Set<Int64> = []
        for client in ids {
            let rows = try db.rows(
                """
                SELECT n.user_id FROM connections n WHERE n.client_id = \(client) AND \(after)
                ORDER BY \(order) LIMIT \(count)
                """)
            for row in rows { numbers.insert(try row.get("user_id")) }
        }
        let sorted = isDescending ? numbers.sorted(by: >) : numbers.sorted()
        return sorted.prefix(count).map { UserID($0) }
    }

    /// The first users of the range for whom `filter` holds, slice by slice.
    private func visited(
        _ search: UserSearch, _ filter: SQL, after place: UserSearch.Place?, count: Int, in db: any Transaction
    ) throws -> [UserID] {
        var (found, last): ([UserID], UserSearch.Place?) = ([], place)
        for _ in 0..<(mostRead / max(few, 1)) {
            let slice: SQL = "\(search.range) AND \(search.after(last))"
            let end = try db.rows(
                """
                SELECT \(UserSearch.Columns.indexed.all) FROM users u WHERE \(slice)
                ORDER BY \(search.orderBy()) LIMIT 1 OFFSET \(max(few, 1) - 1)
                """
            ).first.map(search.place)
            found += try db.rows(
                """
                SELECT u.id FROM users u WHERE \(slice) AND \(search.upTo(end)) AND \(filter)
                ORDER BY \(search.orderBy()) LIMIT \(count - found.count)
                """
            ).map { try $0.get("id") }
            guard found.count < count, let end else { return found }
            last = end
        }
        throw UserSearch.TooMany()
    }
}
