import Authentication
import Directory
import HTTP
import HTTPSupport
import OAuth
import Values

/// The user of a browser, as far as a client's pages may know.
enum KnownUser {
    case nobody
    /// Somebody whom the client does not know, or who has not met its merchant.
    case stranger
    case connected(UserID, Scope)
}

/// Looks who uses a browser.
struct KnownUsers: Sendable {
    let site: Site
    let sessions: Sessions
    let apps: ConnectedApps
    let introductions: Introductions
    let clientLogouts: ClientLogouts

    func user(_ request: Request, of client: Client) async throws -> KnownUser {
        guard let session = try await sessions.of(request, site), session.kind.isGood(for: client),
            try await !clientLogouts.isGone(session.id, from: client.id)
        else { return .nobody }
        // A merchant that the user has never met learns nothing about them, even if it connected them by itself.
        guard try await !introductions.isDue(session.user, to: client, in: session.id),
            let scope = try await apps.scope(of: client.id, for: session.user)
        else { return .stranger }
        return .connected(session.user, scope)
    }
}
