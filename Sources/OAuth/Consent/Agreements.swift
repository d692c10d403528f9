public import Directory
public import Storage
public import Values

/// The terms that users have accepted, by their URL: the platform's and those of each client.
public struct Agreements: Sendable {
    private let database: any Database
    /// The platform's terms.
    public let platform: Terms?

    /// `terms` is the URL of the platform's terms.
    public init(database: any Database, terms: String?) {
        self.database = database
        platform = terms.map { Terms(client: nil, uri: $0, changedAt: nil) }
    }

    /// The terms that a user accepts when coming through `client`.
    public func terms(for client: Client?) -> [Terms] { [platform, client?.terms].compactMap(\.self) }

    /// Whether `user` has accepted the current `terms`. True without terms.
    public func isAccepted(_ terms: Terms?, by user: UserID) async throws -> Bool {
        guard let terms else { return true }
        return try await database.read { db in try Self.uri(user, terms.client, in: db) == terms.uri }
    }

    /// Stores that `user` accepts `terms`, through `authority` if not in person. Accepting the same terms again changes
    /// nothing.
    public func accept(
        _ terms: [Terms], by user: UserID, at now: Timestamp, through authority: (any Authority)? = nil
    ) async throws {
        try await database.write { db in
            try authority?.confirm(in: db)
            try Self.accept(terms, by: user, at: now, in: db)
        }
    }

    /// As above, in the caller's transaction.
    public static func accept(
        _ terms: [Terms], by user: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        for terms in terms where try uri(user, terms.client, in: db) != terms.uri {
            try db.execute(
                """
                INSERT INTO agreements (user_id, client_id, terms_uri, accepted_at)
                VALUES (\(user), \(terms.client?.text ?? ""), \(terms.uri), \(now))
                ON CONFLICT (user_id, client_id)
                DO UPDATE SET terms_uri = excluded.terms_uri, accepted_at = excluded.accepted_at
                """)
        }
    }

    private static func uri(
        _ user: UserID, _ client: Client.ID?, in db: any Transaction
    ) throws -> String? {
        try db.rows(
            """
            SELECT terms_uri FROM agreements WHERE user_id = \(user) AND client_id = \(client?.text ?? "")
            """
        ).first?.get("terms_uri")
    }
}

extension Agreements {
    /// The note that a sign-up keeps until the user exists: one line for each of the `terms` that were shown. Neither a
    /// client's id nor a URI can contain a space or a line feed.
    public static func note(of terms: [Terms]) -> String {
        terms.map { "\($0.client?.text ?? "") \($0.uri)" }.joined(separator: "\n")
    }

    /// Accepts the terms of `note`, in the transaction that creates the user.
    static func accept(
        noted note: String, by user: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        let terms = note.split(separator: "\n").compactMap { line -> Terms? in
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            return Terms(
                client: parts[0].isEmpty ? nil : Client.ID(String(parts[0])), uri: String(parts[1]), changedAt: nil)
        }
        try accept(terms, by: user, at: now, in: db)
    }
}

extension Agreements {
    /// Stores what a new user accepted.
    public static let subscriber = UserEvents.Subscriber(
        "Agreements",
        [
            .on(.signedUp, "stores the terms that were accepted") { event, user, announcement, db in
                guard case .signedUp(let agreed) = event else { return }
                try accept(noted: agreed, by: user, at: announcement.now, in: db)
            }
        ])
}
