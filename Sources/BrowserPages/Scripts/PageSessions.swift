import Authentication
public import Directory
import HTTP
public import HTTPSupport
public import Values

/// The session of a browser as a client's pages ask for it: by the cookie of this server, or at a host of the client's
/// site by the cookie there (docs/decisions/session-hosts.md).
public struct PageSessions: Sendable {
    private let site: Site
    private let sessions: Sessions
    private let hosts: HostSessions
    private let signIns: NoticedSignIns
    private let clock: any WallClock

    public init(
        site: Site, sessions: Sessions, hosts: HostSessions, signIns: NoticedSignIns, clock: any WallClock
    ) {
        self.site = site
        self.sessions = sessions
        self.hosts = hosts
        self.signIns = signIns
        self.clock = clock
    }

    func session(of request: Request, for client: Client) async throws -> Session? {
        guard let host = request.sessionHost(of: client) else { return try await sessions.of(request, site) }
        guard let value = request.cookie(site.hostSessionCookie) else { return nil }
        return try await hosts.find(Secret(value), at: host, for: client)
    }

    /// Where a page at the client's site sends its browser to get a session there. Nil at our own host, and when there
    /// is a session. Also nil when the browser has been told that no user is signed in and none has signed in since, so
    /// that no page redirects in circles.
    func renewal(for request: Request, _ client: Client) async throws -> String? {
        guard let host = request.sessionHost(of: client),
            try await session(of: request, for: client) == nil
        else { return nil }
        if let told = request.cookie(site.signedOutCookie).flatMap(SignedOutAnswer.init),
            (told.since..<told.since + NoticedSignIns.memory).contains(clock.now),
            try await !signIns.contain(told.mark, after: told.since)
        {
            return nil
        }
        return site.address(at: host) + SessionRenewEndpoint.path
    }
}

extension StringProtocol {
    /// Whether it has the form of a secret's fingerprint: 43 characters of base64url.
    var isFingerprint: Bool {
        utf8.count == 43
            && utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: "_")
            }
    }
}

extension Site {
    /// The base of addresses at `host`.
    func address(at host: String) -> String { (origin.hasPrefix("https://") ? "https://" : "http://") + host }
}
