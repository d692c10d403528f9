import Directory
import OAuth
public import Storage
import Values

/// Finds users. Each search begins in an index, and reads a bounded number of users that it does not show.
///
/// Which users belong to a merchant is asked for some hundred of them at a time: left to a planner, the question would
/// read the connections of the whole deployment.
public struct UserFinder: Sendable {
    private let database: any Database
    /// What is read in one go, or sorted.
    let few: Int
    /// The most that one search reads.
    let mostRead: Int
    /// How many users are asked for by their ids at once.
    private static let atOnce = 500
    /// How many users are looked at before it is asked how many there are.
    private static let first = 200

    public init(database: any Database) { self.init(database: database, few: 2000, mostRead: 100_000) }

    package init(database: any Database, few: Int, mostRead: Int) {
        self.database = database
        self.few = few
        self.mostRead = mostRead
    }

    /// At most `count` users that `search` finds after `place`, for the administrator of `merchant` or the platform's.
    func users(
        _ search: UserSearch, of merchant: Merchant.ID?, after place: UserSearch.Place?, count: Int
    ) async throws -> [User] {
        try await database.scan(for: .of(merchant)) { db in
            let clients = try Self.clients(search, merchant, in: db)
            let ids = try ids(search, clients, after: place, count: count, in: db)
            guard !ids.isEmpty else { return [] }
            let users = try db.rows("SELECT \(User.columns) FROM users WHERE id IN (\(list: ids))").map(User.init)
            let byID = Dictionary(users.map { ($0.id, $0) }) { first, _ in first }
            return ids.compactMap { byID[$0] }
        }
    }

    /// How many users `search` finds; nil when they are too many to count.
    func count(_ search: UserSearch, of merchant: Merchant.ID?) async throws -> Int? {
        try await database.scan(for: .of(merchant)) { db in
            let clients = try Self.clients(search, merchant, in: db)
            guard search.keys.isEmpty else { return try named(search, clients, in: db).count }
            guard let clients else { return try count(search, in: db) }
            guard let members = try members(of: clients, in: db) else {
                guard !search.isFiltered, !clients.isEmpty else { return nil }
                return try db.rows(
                    """
                    SELECT COUNT(DISTINCT n.user_id) AS number FROM connections n
                    WHERE n.client_id IN (\(list: clients))
                    """
                ).first?.get("number")
            }
            return try places(members, search, in: db).count
        }
    }

    private func count(_ search: UserSearch, in db: any Transaction) throws -> Int? {
        let read: Int? = try db.rows(
            """
            SELECT COUNT(*) AS number FROM (
                SELECT u.id FROM users u WHERE \(search.range) ORDER BY \(search.orderBy) LIMIT \(mostRead + 1)) r
            """
        ).first?.get("number")
        guard let read, read <= mostRead else { return nil }
        guard let filter = search.filter(besidesRange: true) else { return read }
        return try db.rows(
            "SELECT COUNT(*) AS number FROM users u WHERE \(search.range) AND \(filter)"
        ).first?.get("number")
    }

    /// The clients whose users are searched: those that the administrator of `merchant` sees users of, and that
    /// `search` names. Nil for the whole directory.
    private static func clients(
        _ search: UserSearch, _ merchant: Merchant.ID?, in db: any Transaction
    ) throws -> [Client.ID]? {
        guard let merchant else { return search.client.map { [$0] } }
        let one: SQL = search.client.map { "c.id = \($0)" } ?? .always
        return try db.rows(
            """
            SELECT c.id FROM clients c WHERE c.merchant_id = \(merchant) AND c.deleted_at IS NULL
                AND \(ClientRight.shareWithMerchant.held(by: "c")) AND \(one)
            """
        ).map { try $0.get("id") }
    }

    private func ids(
        _ search: UserSearch, _ clients: [Client.ID]?, after place: UserSearch.Place?, count: Int,
        in db: any Transaction
    ) throws -> [UserID] {
        guard search.keys.isEmpty else { return place == nil ? try named(search, clients, in: db) : [] }
        if search.isDisabled == true, let disabled = try disabled(search, in: db) {
            let rest = disabled.filter { search.isAfter($0, place) }
            return try Array(covered(rest, by: clients, in: db).prefix(count))
        }
        guard let clients else {
            guard search.filter(besidesRange: true) != nil else {
                return try db.rows(
                    """
                    SELECT u.id FROM users u WHERE \(search.range) AND \(search.after(place))
                    ORDER BY \(search.orderBy) LIMIT \(count)
                    """
                ).map { try $0.get("id") }
            }
            return try visited(search, nil, after: place, count: count, in: db)
        }
        guard !clients.isEmpty else { return [] }
        guard search.order != .id || search.isFiltered else {
            return try connected(clients, search, after: place, count: count, in: db)
        }
        // Among the first users of the range are enough of a large merchant's.
        let first = try visited(
            search, clients, after: place, count: count, slices: 1, of: min(few, Self.first), in: db)
        if let first { return first }
        let isOfFew = try search.ownOrder != nil && isFew(search, in: db)
        if !isOfFew, let members = try members(of: clients, in: db) {
            let found = try places(members, search, in: db).filter { search.isAfter($0, place) }
            return found.sorted(by: search.precedes).prefix(count).map(\.id)
        }
        return try visited(search, clients, after: place, count: count, in: db)
    }

    /// The user of the keys.
    private func named(
        _ search: UserSearch, _ clients: [Client.ID]?, in db: any Transaction
    ) throws -> [UserID] {
        let found = try db.rows(
            """
            SELECT \(UserSearch.placeColumns) FROM users u
            WHERE \(search.isNamed) AND \(search.filter(besidesRange: false) ?? .always)
            """
        ).map(search.place)
        return try covered(found, by: clients, in: db)
    }

    /// The users that are disabled and meet the other conditions, in their order; nil when many are disabled.
    private func disabled(_ search: UserSearch, in db: any Transaction) throws -> [UserSearch.Place]? {
        let all: [UserID] = try db.rows(
            "SELECT u.id FROM users u WHERE u.disabled_at IS NOT NULL ORDER BY u.id LIMIT \(few + 1)"
        ).map { try $0.get("id") }
        return all.count > few ? nil : try places(all, search, in: db).sorted(by: search.precedes)
    }

    /// Whether few users have the prefix.
    private func isFew(_ search: UserSearch, in db: any Transaction) throws -> Bool {
        try isFew("SELECT u.id FROM users u WHERE \(search.range) ORDER BY \(search.orderBy)", in: db)
    }

    private func isFew(_ users: SQL, in db: any Transaction) throws -> Bool {
        let number: Int? = try db.rows("SELECT COUNT(*) AS number FROM (\(users) LIMIT \(few + 1)) r").first?
            .get("number")
        return number ?? 0 <= few
    }

    /// The users connected to `clients`; nil when they are many.
    private func members(of clients: [Client.ID], in db: any Transaction) throws -> [UserID]? {
        var found: Set<UserID> = []
        for client in clients {
            let users: SQL = "SELECT n.user_id FROM connections n WHERE n.client_id = \(client) ORDER BY n.user_id"
            guard try isFew(users, in: db) else { return nil }
            for row in try db.rows(users) { found.insert(try row.get("user_id")) }
            guard found.count <= few else { return nil }
        }
        return found.sorted { $0.number < $1.number }
    }

    /// Each client's first users in index order, which include the first of all.
    private func connected(
        _ clients: [Client.ID], _ search: UserSearch, after place: UserSearch.Place?, count: Int,
        in db: any Transaction
    ) throws -> [UserID] {
        let isDescending = search.isDescending
        let after: SQL = place.map { isDescending ? "n.user_id < \($0.id)" : "n.user_id > \($0.id)" } ?? .always
        let order: SQL = isDescending ? "n.user_id DESC" : "n.user_id"
        var numbers: Set<Int64> = []
        for client in clients {
            for row in try db.rows(
                """
                SELECT n.user_id FROM connections n WHERE n.client_id = \(client) AND \(after)
                ORDER BY \(order) LIMIT \(count)
                """)
            { numbers.insert(try row.get("user_id")) }
        }
        let sorted = isDescending ? numbers.sorted(by: >) : numbers.sorted()
        return sorted.prefix(count).map { UserID($0) }
    }

    /// The first users of the range that meet the other conditions, slice by slice. Throws `TooMany` when that reads
    /// too many.
    private func visited(
        _ search: UserSearch, _ clients: [Client.ID]?, after place: UserSearch.Place?, count: Int,
        in db: any Transaction
    ) throws -> [UserID] {
        let size = max(min(few, clients == nil ? few : Self.atOnce), 1)
        let found = try visited(
            search, clients, after: place, count: count, slices: mostRead / size, of: size, in: db)
        guard let found else { throw UserSearch.TooMany() }
        return found
    }

    /// As above in so many slices; nil when they are not enough.
    private func visited(
        _ search: UserSearch, _ clients: [Client.ID]?, after place: UserSearch.Place?, count: Int, slices: Int,
        of size: Int, in db: any Transaction
    ) throws -> [UserID]? {
        var (found, last): ([UserID], UserSearch.Place?) = ([], place)
        for _ in 0..<slices {
            let slice: SQL = "\(search.range) AND \(search.after(last))"
            let end = try db.rows(
                """
                SELECT \(UserSearch.placeColumns) FROM users u WHERE \(slice)
                ORDER BY \(search.orderBy) LIMIT 1 OFFSET \(size - 1)
                """
            ).first.map(search.place)
            let candidates = try db.rows(
                """
                SELECT \(UserSearch.placeColumns) FROM users u
                WHERE \(slice) AND \(search.upTo(end)) AND \(search.filter(besidesRange: true) ?? .always)
                ORDER BY \(search.orderBy) LIMIT \(clients == nil ? count - found.count : size)
                """
            ).map(search.place)
            found += try covered(candidates, by: clients, in: db)
            guard found.count < count, let end else { return Array(found.prefix(count)) }
            last = end
        }
        return nil
    }

    /// Those of `places` whose users are connected to one of `clients`, in their order; all of them when that is nil.
    private func covered(
        _ places: [UserSearch.Place], by clients: [Client.ID]?, in db: any Transaction
    ) throws -> [UserID] {
        let ids = places.map(\.id)
        guard let clients else { return ids }
        guard !clients.isEmpty else { return [] }
        var own: Set<UserID> = []
        for some in Self.parts(of: ids) {
            for row in try db.rows(
                """
                SELECT n.user_id FROM connections n
                WHERE n.user_id IN (\(list: some)) AND n.client_id IN (\(list: clients))
                """)
            { own.insert(try row.get("user_id")) }
        }
        return ids.filter { own.contains($0) }
    }

    /// The places of those of `ids` that meet all conditions.
    private func places(
        _ ids: [UserID], _ search: UserSearch, in db: any Transaction
    ) throws -> [UserSearch.Place] {
        try Self.parts(of: ids).flatMap { some in
            try db.rows(
                """
                SELECT \(UserSearch.placeColumns) FROM users u
                WHERE u.id IN (\(list: some)) AND \(search.filter(besidesRange: false) ?? .always)
                """
            ).map(search.place)
        }
    }

    /// `ids` in parts of one size, so that each is the same statement: the last id fills up the last part.
    private static func parts(of ids: [UserID]) -> [[UserID]] {
        guard let last = ids.last else { return [] }
        return stride(from: 0, to: ids.count, by: atOnce).map { start in
            let part = Array(ids[start..<min(start + atOnce, ids.count)])
            let size = ids.count <= 50 ? 50 : atOnce
            return part + Array(repeating: last, count: size - part.count)
        }
    }
}
