import Authentication
public import Cryptography
public import Directory
import HTTP
public import HTTPSupport
import Logging
public import OAuth
import Text
public import Values

/// `/session/renew` at a host of a client's site, and `/session/handover` at our own. A browser goes from a page of the
/// site to our host, which knows the session, and back, with a session at the site's host
/// (docs/decisions/session-hosts.md).
///
/// Only navigations may do that. Each step identifies the browser at the site by a cookie there, so that a code, or the
/// answer that no user is signed in, is worth nothing in another browser.
public struct SessionRenewEndpoint: Endpoint {
    static let path = "/session/renew"
    private static let handOverPath = "/session/handover"

    private let site: Site
    private let clients: Clients
    private let sessions: Sessions
    private let hosts: HostSessions
    private let sessionClients: SessionClients
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        site: Site, clients: Clients, sessions: Sessions, hosts: HostSessions, sessionClients: SessionClients,
        clock: any WallClock, random: any RandomSource
    ) {
        self.site = site
        self.clients = clients
        self.sessions = sessions
        self.hosts = hosts
        self.sessionClients = sessionClients
        self.clock = clock
        self.random = random
    }

    public func add(to router: inout Routes) {
        router.get("/session/renew", .renewSession) { request, context in
            try await SessionHop.answer(request, context, clients: clients) { hop in
                guard let host = request.sessionHost(of: hop.client) else { throw SessionHop.Refused.host }
                return hop.query["browser"] == nil
                    ? depart(request, hop, host) : try await arrive(request, hop, host)
            }
        }
        router.get("/session/handover", .handSessionOver) { request, context in
            try await SessionHop.answer(request, context, clients: clients) { hop in try await handOver(request, hop) }
        }
    }

    /// At the host of the site: gives the browser a name there, and sends it to our own host.
    private func depart(_ request: Request, _ hop: SessionHop, _ host: String) -> Response {
        let known = request.cookie(site.hostBrowserCookie)
        let browser = known.map { Secret<HostSession.Browser>($0) } ?? .random(from: random)
        return .sendBrowser(
            to: address(
                site.origin + Self.handOverPath, hop, browser.fingerprint, [("host", host)]),
            status: .seeOther, cookies: [known == nil ? site.cookie(site.hostBrowserCookie, browser.value) : nil])
    }

    /// At our own host: sends the browser back with a code for its session, or with the answer that there is none.
    private func handOver(_ request: Request, _ hop: SessionHop) async throws -> Response {
        guard let host = hop.query["host"], hop.client.spid.sessionHosts.contains(host) else {
            throw SessionHop.Refused.host
        }
        guard let text = hop.query["browser"], text.isFingerprint else { throw SessionHop.Refused.browser }
        let browser = Fingerprint<HostSession.Browser>(text: text)
        let target = site.address(at: host) + Self.path
        if let session = try await sessions.of(request, site), session.origin.isGood(for: hop.client),
            try await !sessionClients.isGone(session.id, from: hop.client.id)
        {
            let code = Secret<HostSession.Code>.random(from: random)
            try await hosts.handOver(
                session, by: code, to: .init(host: host, client: hop.client.id, browser: browser))
            return .sendBrowser(to: address(target, hop, browser, [("code", code.value)]), status: .seeOther)
        }
        let mark = Secret<NoticedSignIns.Mark>.random(from: random)
        return .sendBrowser(
            to: address(target, hop, browser, [("nobody", mark.fingerprint.text)]), status: .seeOther,
            cookies: [SignedOutMarks(request, site).adding(mark).cookie(site)])
    }

    /// At the host of the site again: takes the session over, or remembers that there is none, and returns to the page.
    private func arrive(_ request: Request, _ hop: SessionHop, _ host: String) async throws -> Response {
        guard let own = request.cookie(site.hostBrowserCookie).map({ Fingerprint<HostSession.Browser>(of: $0) }),
            let named = hop.query["browser"], own.matches(Fingerprint(text: named))
        else { throw SessionHop.Refused.browser }
        let place = HostSession.Place(host: host, client: hop.client.id, browser: own)
        let secret = Secret<HostSession>.random(from: random)
        if let code = hop.query["code"], try await hosts.take(Secret(code), as: secret, at: place) {
            return .sendBrowser(
                to: hop.page.text, status: .seeOther,
                cookies: [site.cookie(site.hostSessionCookie, secret.value), site.cleared(site.signedOutCookie)])
        }
        let now = clock.now
        let answer =
            if let told = hop.query["nobody"], told.isFingerprint {
                SignedOutAnswer(mark: Fingerprint(text: told), since: now)
            } else {
                // A code that another tab replaced, or an old address: only keeps the page from returning at once.
                SignedOutAnswer(
                    mark: Secret.random(from: random).fingerprint, since: now - NoticedSignIns.memory + .seconds(15))
            }
        return .sendBrowser(
            to: hop.page.text, status: .seeOther, cookies: [site.cookie(site.signedOutCookie, answer.text)])
    }

    private func address(
        _ base: String, _ hop: SessionHop, _ browser: Fingerprint<HostSession.Browser>, _ more: [Form.Pair]
    ) -> String {
        let pairs: [Form.Pair] = [
            ("client_id", hop.client.id.text), ("redirect_uri", hop.page.text), ("browser", browser.text),
        ]
        return base + "?" + PercentEncoding.encode(pairs: pairs + more)
    }
}
