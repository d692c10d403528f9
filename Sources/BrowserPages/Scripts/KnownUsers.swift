import Authentication
import Directory
import HTTP
import HTTPSupport
public import OAuth
import Values

/// The user of a browser, as far as a client's pages may know.
enum KnownUser {
    case signedOut
    /// A user who is not connected to the client, or to whom its merchant is new.
    case notConnected(Session)
    case connected(Session, Scope)
}

/// Finds out who uses a browser.
public struct KnownUsers: Sendable {
    private let sessions: PageSessions
    private let apps: ConnectedApps
    private let introductions: Introductions
    private let sessionClients: SessionClients

    public init(
        sessions: PageSessions, apps: ConnectedApps, introductions: Introductions, sessionClients: SessionClients
    ) {
        self.sessions = sessions
        self.apps = apps
        self.introductions = introductions
        self.sessionClients = sessionClients
    }

    func user(_ request: Request, of client: Client) async throws -> KnownUser {
        guard let session = try await sessions.session(of: request, for: client), session.origin.isGood(for: client),
            try await !sessionClients.isGone(session.id, from: client.id)
        else { return .signedOut }
        // A merchant that is new to the user learns nothing about them, even if it connected them by itself. A client
        // that requires verified addresses learns nothing about users without one.
        guard !client.requiresVerifiedEmail || session.emailVerified,
            try await !introductions.isDue(session.user, to: client, in: session.id),
            let scope = try await apps.scope(of: client, for: session.user),
            try await apps.isAllowed(client, by: session.user)
        else { return .notConnected(session) }
        return .connected(session, scope)
    }
}
