public import Authentication
public import Cryptography
public import Directory
public import Storage
public import Values

/// Completes a sign-in at another issuer: with a session, a new user, a link, or a refusal.
public struct IdentityProviderEntrance: Sendable {
    private let database: any Database
    private let users: IssuerUsers
    private let sessions: Sessions
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        database: any Database, users: IssuerUsers, sessions: Sessions, clock: any WallClock,
        random: any RandomSource
    ) {
        self.database = database
        self.users = users
        self.sessions = sessions
        self.clock = clock
        self.random = random
    }

    /// The outcome of `enter`.
    public enum Entry: Sendable {
        case entered
        /// The user will be deleted. A confined sign-in is good for one merchant only.
        case leaving(LeavingUser, isConfined: Bool)
        case unknown, disabled, addressTaken, removed
        /// The issuer was disabled, deleted or changed meanwhile.
        case closed
    }

    /// Opens a session for the user in `newSession`, if they may have one. Throws
    /// `IdentityProviderRefusal.tooManyNewcomers`.
    public func enter(
        _ newSession: IdentityProviderUser, opening: Session.Opening, replacing old: Session.ID?
    ) async throws -> Entry {
        let now = clock.now
        let newcomer = UserID.random(from: random)
        let announcement = sessions.announcement(at: now)
        let entry = try await writing { db -> Entry in
            guard try isOpen(to: newSession, in: db) else { return .closed }
            func assertedBy() throws -> AssertedBy {
                let isConfined = try IssuerSubjects.isConfined(
                    newSession.issuerUser.subject, of: newSession.issuerUser.issuer.id, in: db)
                return newSession.assertedBy(isConfined: isConfined)
            }
            switch try users.resolve(newSession.issuerUser, newcomer: newcomer, at: now, in: db) {
            case .known(let user), .linked(let user), .created(let user):
                try Sessions.open(
                    opening.asserted(by: try assertedBy()), user: user, replacing: old, at: now, in: db, announcement)
                return .entered
            case .leaving(let user):
                let isConfined = try assertedBy().isConfined
                return try LeavingUser(user, in: db).map { .leaving($0, isConfined: isConfined) } ?? .unknown
            case .unknown: return .unknown
            case .disabled: return .disabled
            case .addressTaken: return .addressTaken
            case .removed: return .removed
            }
        }
        announcement.send()
        return entry
    }

    private func writing(_ work: @escaping @Sendable (any Transaction) throws -> Entry) async throws -> Entry {
        do {
            return try await database.write(work)
        } catch let refusal as Users.TooManyNew {
            throw IdentityProviderRefusal.tooManyNewcomers(refusal.wait)
        }
    }

    /// The outcome of `connect`.
    public enum Connection: Sendable {
        case connected
        /// The issuer's subject is linked to another user here, or this user to another subject there.
        case taken
        case closed
        /// The session has ended meanwhile.
        case signedOut
    }

    /// Links the subject in `newSession` to the user of `session`, who asked for it.
    public func connect(_ newSession: IdentityProviderUser, in session: Session) async throws -> Connection {
        let now = clock.now
        return try await database.write { db in
            guard try isOpen(to: newSession, in: db) else { return .closed }
            guard try Sessions.isLive(session, in: db) else { return .signedOut }
            return try users.connect(newSession.issuerUser, to: session.user, at: now, in: db) ? .connected : .taken
        }
    }

    private func isOpen(to newSession: IdentityProviderUser, in db: any Transaction) throws -> Bool {
        let issuer = newSession.issuerUser.issuer
        guard try TrustedIssuers.takesUsers(issuer.id, in: db) else { return false }
        return try TrustedIssuers.stands(issuer, in: db)
    }
}
