public import Directory
import JSON
public import Storage
public import Values

/// Signs in any user by name alone, for development (`spindle serve --dev`).
///
/// These users have no password, so they cannot sign in once this is off. Other users cannot be reached.
public struct DevelopmentSignIn: Sendable {
    private let database: any Database
    private let clock: any WallClock
    private let events: UserEvents

    public init(database: any Database, clock: any WallClock, events: UserEvents) {
        self.database = database
        self.clock = clock
        self.events = events
    }

    public enum Outcome: Sendable, Equatable {
        case signedIn(UserID)
        /// The user will be deleted, and can only cancel that.
        case leaving(LeavingUser)
        case disabled
        /// A user who was not created by a development sign-in has the name's address.
        case addressTaken
    }

    /// Opens a session for the user of `name`, who is created if missing. Tokens describe the sign-in as one with a
    /// password, which it stands in for.
    public func enter(
        as name: DevelopmentName, _ opening: Session.Opening, replacing old: Session.ID?
    ) async throws -> Outcome {
        let now = clock.now
        let id = name.user
        return try await events.write(to: database, at: now) { db, announcement in
            if let user = try User.find(id, in: db) {
                guard user.disabledAt == nil else { return .disabled }
                if let leaving = try LeavingUser(id, in: db) { return .leaving(leaving) }
            } else {
                guard try Self.make(id, name, at: now, in: db) else { return .addressTaken }
            }
            try Sessions.open(
                opening, user: id, replacing: old, at: now, in: db, announcement)
            try Logins.record(opening.login(.normal), of: id, succeeded: true, at: now, in: db)
            return .signedIn(id)
        }
    }

    /// Creates the users of `names` who are missing.
    public func create(_ names: [DevelopmentName]) async throws {
        let now = clock.now
        try await database.write { db in
            for name in names where try User.find(name.user, in: db) == nil {
                _ = try Self.make(name.user, name, at: now, in: db)
            }
        }
    }

    private static func make(
        _ id: UserID, _ name: DevelopmentName, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        guard let email = EmailAddress(name.email), try !Users.has(email, in: db) else { return false }
        try Users.insertLinked(
            id, email: email,
            profile: [.init("name", .string(name.text)), .init("preferred_username", .string(name.key))], at: now,
            in: db)
        return true
    }
}
