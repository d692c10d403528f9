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
    private let keys = Mutex<PairwiseKeys?>(nil)

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
        try await pairwise(Self.name(of: user), for: client)
    }

    /// SPiD's `pairId` of `user`: the same for all clients of a merchant, and different for each merchant. Clients that
    /// must not know which users they share get the pairwise identifier.
    public func pair(_ user: UserID, with client: Client) async throws -> String {
        if let pairwise = try await pairwise(user, for: client) { return pairwise }
        let text = "pair|\(client.merchant?.text ?? "")|\(user)"
        return Hexadecimal.encode(Digest.hmacSHA256(Array(text.utf8), key: try await known().salt))
    }

    /// The `sid` of the browser session `session` for `client`. If it were the same for all clients, it would undo
    /// pairwise identifiers.
    public func session(_ session: Session.ID, for client: Client) async throws -> String {
        try await pairwise("session/\(session)", for: client) ?? session.text
    }

    /// The pairwise identifier; nil for a client with public ones.
    private func pairwise(_ name: String, for client: Client) async throws -> String? {
        guard let sector = Self.sector(of: client) else { return nil }
        return try await known().identifier(of: name, in: sector)
    }

    private static func sector(of client: Client) -> String? {
        guard case .pairwise(let sector) = client.openID.subjectType else { return nil }
        return "\(client.merchant?.text ?? "")/\(sector)"
    }

    /// The salt of pairwise identifiers, made when one is first needed. It never changes, because clients would no
    /// longer recognize their users. So it does not depend on the master key, which may change.
    private func known() async throws -> PairwiseKeys {
        if let known = keys.withLock({ $0 }) { return known }
        let made = Base64URL.encode(random.bytes(32))
        let text = try await database.write { db -> String in
            try Facts.note(made, as: Self.fact, in: db)
            return try Facts.value(of: Self.fact, in: db) ?? made
        }
        let found = PairwiseKeys(salt: Array(text.utf8))
        keys.withLock { $0 = found }
        return found
    }

    /// As long for every user, so that the length of an identifier tells nothing.
    private static func name(of user: UserID) -> String {
        let digits = user.description
        return String(repeating: "0", count: max(16 - digits.utf8.count, 0)) + digits
    }
}

/// What only administration asks: whom an identifier names.
extension SubjectIdentifiers {
    /// The user that a pairwise identifier was made for, if it is one: `isOne` says whether.
    public func user(ofPairwise identifier: String) async throws -> UserID? {
        try await name(of: identifier).flatMap { UserID($0.drop { $0 == "0" }) }
    }

    /// The browser session that a pairwise `sid` was made for.
    public func session(ofPairwise identifier: String) async throws -> Session.ID? {
        guard let name = try await name(of: identifier), name.hasPrefix("session/") else { return nil }
        return Session.ID(String(name.dropFirst("session/".count)))
    }

    /// Whether `client` knows the user or the session by the pairwise `identifier`.
    public func isOne(_ identifier: String, for client: Client) async throws -> Bool {
        guard let name = try await name(of: identifier) else { return false }
        return try await pairwise(name, for: client) == identifier
    }

    private func name(of identifier: String) async throws -> String? {
        try await known().name(of: identifier)
    }
}

/// Pairwise identifiers: a name, encrypted so that a sector always gets the same text, no two sectors can compare
/// theirs, and only this server finds the name again (OpenID Connect Core §8.1). The first half is a code of sector and
/// name, from which the key follows that hides the name in the second (RFC 5297's synthetic initialization vector).
private struct PairwiseKeys {
    private static let codeLength = 16
    let salt: [UInt8]
    private let codes: [UInt8]
    private let hiding: [UInt8]

    init(salt: [UInt8]) {
        self.salt = salt
        codes = Digest.hmacSHA256(Array("pairwise codes".utf8), key: salt)
        hiding = Digest.hmacSHA256(Array("pairwise names".utf8), key: salt)
    }

    func identifier(of name: String, in sector: String) -> String {
        let code = Array(Digest.hmacSHA256(Array("\(sector)/\(name)".utf8), key: codes).prefix(Self.codeLength))
        return Base64URL.encode(code + hidden(Array(name.utf8), by: code))
    }

    /// The name in `identifier`; something else in a text that is none.
    func name(of identifier: String) -> String? {
        guard let bytes = Base64URL.decode(identifier), bytes.count > Self.codeLength else { return nil }
        let code = Array(bytes.prefix(Self.codeLength))
        return String(validating: hidden(Array(bytes.dropFirst(Self.codeLength)), by: code), as: UTF8.self)
    }

    private func hidden(_ name: [UInt8], by code: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        for part in UInt8.min...UInt8.max where stream.count < name.count {
            stream += Digest.hmacSHA256(code + [part], key: hiding)
        }
        return zip(name, stream).map { $0 ^ $1 }
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
