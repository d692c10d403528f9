public import Directory
import Storage
import Values

/// Searches by conditions that no index covers.
extension ConnectedUsers {
    /// The users of one client for whom `holds` is true, in the order of their ids, within the states, times, part and
    /// address prefix of `query`. Reads every user of the client; nil when they are more than `few`.
    public func search(
        _ query: UserQuery, for scope: ClientScope, where holds: @escaping @Sendable (User) -> Bool
    ) async throws -> [Match]? {
        try await database.scan(for: .of(scope)) { db in
            guard
                try isFew(
                    "SELECT 1 FROM connections WHERE client_id = \(scope.client) LIMIT \(few + 1)", in: db)
            else { return nil }
            let wanted = query.part.offset + query.part.limit
            var found: [UserID] = []
            var cursor: Int64 = 0
            while found.count < wanted {
                let ids: [UserID] = try db.rows(
                    """
                    SELECT user_id FROM connections WHERE client_id = \(scope.client) AND user_id > \(cursor)
                    ORDER BY user_id LIMIT \(Self.readAtOnce)
                    """
                ).map { try $0.get("user_id") }
                guard let last = ids.last else { break }
                cursor = last.number
                found += try db.rows(
                    """
                    SELECT \(User.columns) FROM users
                    WHERE id IN (\(list: ids)) AND deletion_due_at IS NULL ORDER BY id
                    """
                ).map(User.init).filter { query.covers($0) && holds($0) }.map(\.id)
            }
            return try Self.matches(
                Array(found.dropFirst(query.part.offset).prefix(query.part.limit)), for: scope, in: db)
        }
    }

    private static let readAtOnce = 500
}

extension UserQuery {
    /// Whether the user is in one of the states, and of the times.
    fileprivate func covers(_ user: User) -> Bool {
        let state: State = user.disabledAt != nil ? .blocked : user.emailVerified ? .verified : .unverified
        let moment = spansChanges ? user.updatedAt : user.createdAt
        return states.contains(state) && moment >= span.start && moment < span.end
            && (user.email ?? "").unicodeScalars.starts(with: prefix.unicodeScalars)
    }
}
