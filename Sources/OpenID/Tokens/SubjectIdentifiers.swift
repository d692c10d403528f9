public import Cryptography
public import Directory
import OAuth
public import Storage
import Synchronization
public import Values

/// Who a person is to a client: the same to all, or another to every sector of every merchant (OpenID Connect Core §8).
///
/// The merchant is a part of it because nobody proves that a sector's host is theirs: another merchant's client that names
/// it would learn the same names.
public final class SubjectIdentifiers: Sendable {
    private static let fact = "pairwise_salt"

    private let database: any Database
    private let random: any RandomSource
    private let salt = Mutex<[UInt8]?>(nil)

    public init(database: any Database, random: any RandomSource) {
        self.database = database
        self.random = random
    }

    /// `sub` of `user` for `client`.
    public func subject(_ user: UserID, for client: Client) async throws -> String {
        try await pairwise(user.description, for: client) ?? user.description
    }

    /// `sid` of the browser session `session` for `client`: one that all clients were told alike would undo what different
    /// names of its person are for.
    public func session(_ session: Session.ID, for client: Client) async throws -> String {
        try await pairwise("session/\(session)", for: client) ?? session.text
    }

    /// Nil for a client whose people go by their numbers.
    private func pairwise(_ name: String, for client: Client) async throws -> String? {
        guard case .pairwise(let sector) = client.openID.subjectType else { return nil }
        let text = "\(client.merchant?.text ?? "")/\(sector)/\(name)"
        return Base64URL.encode(Digest.hmacSHA256(Array(text.utf8), key: try await key()))
    }

    /// What pairwise names are made with, made the first time one is needed. It is never changed, or people would be
    /// strangers to their clients; so it does not hang on the master key, which may change.
    private func key() async throws -> [UInt8] {
        if let known = salt.withLock({ $0 }) { return known }
        let made = Base64URL.encode(random.bytes(32))
        let text = try await database.write { db -> String in
            try Facts.note(made, as: Self.fact, in: db)
            return try Facts.value(of: Self.fact, in: db) ?? made
        }
        let key = Array(text.utf8)
        salt.withLock { $0 = key }
        return key
    }
}
