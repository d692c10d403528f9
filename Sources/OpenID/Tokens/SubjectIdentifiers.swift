public import Cryptography
public import Directory
import JSON
public import OAuth
public import Storage
import Synchronization
public import Values

/// The identifiers of users for clients: public, or pairwise by sector and merchant (OpenID Connect Core §8).
///
/// The merchant is included because ownership of a sector's host is not proved: another merchant's client that names
/// the same host would otherwise get the same identifiers.
public final class SubjectIdentifiers: Sendable {
    private static let fact = "pairwise_salt"

    private let database: any Database
    private let random: any RandomSource
    private let salt = Mutex<[UInt8]?>(nil)

    public init(database: any Database, random: any RandomSource) {
        self.database = database
        self.random = random
    }

    /// The `sub` of `user` for `client`.
    public func subject(_ user: UserID, for client: Client) async throws -> String {
        if let pairwise = try await pairwise(user, for: client) { return pairwise }
        return try await subject(user)
    }

    /// The public `sub` of `user`. It never changes, but a user who was deleted may be imported again with another one.
    public func subject(_ user: UserID) async throws -> String { try await User.sub(of: user, in: database) }

    /// The `sub` of the user of `notice`, who may be deleted by now.
    func subject(of notice: LogoutNotice, for client: Client) async throws -> String {
        try await pairwise(notice.user, for: client) ?? notice.keptSubject ?? notice.user.description
    }

    /// The `sub` of the user of `token`, which `client` was given; nil for a client's own token.
    public func subject(of token: AccessToken, for client: Client) async throws -> String? {
        guard let user = token.user else { return nil }
        return try await pairwise(user, for: client) ?? token.keptSubject ?? user.description
    }

    /// The `user_id` of `user` for `client`: the number, unless the client must not know it.
    public func number(_ user: UserID, for client: Client) async throws -> String {
        try await pairwise(user, for: client) ?? user.description
    }

    /// The pairwise identifier of `user`; nil for clients with public ones.
    public func pairwise(_ user: UserID, for client: Client) async throws -> String? {
        try await pairwise(user.description, for: client)
    }

    /// SPiD's `pairId` of `user`: the same for all clients of a merchant, and different for each merchant. Clients that
    /// must not know which users they share get the pairwise identifier.
    public func pair(_ user: UserID, with client: Client) async throws -> String {
        if let pairwise = try await pairwise(user, for: client) { return pairwise }
        let text = "pair|\(client.merchant?.text ?? "")|\(user)"
        return Hexadecimal.encode(Digest.hmacSHA256(Array(text.utf8), key: try await key()))
    }

    /// The `sid` of the browser session `session` for `client`. If it were the same for all clients, it would undo
    /// pairwise identifiers.
    public func session(_ session: Session.ID, for client: Client) async throws -> String {
        try await pairwise("session/\(session)", for: client) ?? session.text
    }

    /// The pairwise identifier; nil for a client with public ones.
    private func pairwise(_ name: String, for client: Client) async throws -> String? {
        guard case .pairwise(let sector) = client.openID.subjectType else { return nil }
        let text = "\(client.merchant?.text ?? "")/\(sector)/\(name)"
        return Base64URL.encode(Digest.hmacSHA256(Array(text.utf8), key: try await key()))
    }

    /// The salt of pairwise identifiers, made when one is first needed. It never changes, because clients would no
    /// longer recognize their users. So it does not depend on the master key, which may change.
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

/// `legacy_user_id`: the user's number, as a text, beside `sub`. SPiD's SDKs for iOS and PHP read it in ID tokens and
/// userinfo.
///
/// It tells a client nothing new: `user_id` of its token answers is the same number. No client with pairwise
/// identifiers, which must not learn it (OpenID Connect Core §8.1), is SPiD-compatible.
enum LegacyUserID {
    static func claim(of user: UserID, for client: Client) -> [JSON.Member] {
        guard client.may(.getSPiDAnswers) else { return [] }
        return [.init("legacy_user_id", .string(user.description))]
    }
}
