import Authentication
public import Cryptography
public import Directory
import HTTP
public import HTTPSupport
import OAuth
import Values

/// A browser in which somebody is about to be signed in: the session that will be opened, and the cookies for it.
struct NewSession: Sendable {
    let opening: Session.Opening
    /// The session that the browser has, which gives way.
    let replaces: Session?
    let secret: Secret<Session>
    /// Whether it comes by a client whose requests are marked when the person has seen a page (`Presence`).
    let isOfDoubtfulClient: Bool
    let cookies: [String]
}

/// Prepares sessions for browsers.
public struct NewSessions: Sendable {
    let sessions: Sessions
    let site: Site
    private let address: ClientAddress
    private let random: any RandomSource

    public init(sessions: Sessions, site: Site, address: ClientAddress, random: any RandomSource) {
        self.sessions = sessions
        self.site = site
        self.address = address
        self.random = random
    }

    /// An arrival by a form of the page that `visit` dressed, which introduced the person to the merchant it named.
    ///
    /// - Parameter sawPage: whether there was such a page.
    func arrival(
        _ request: Request, by method: Session.Method, at visit: PageContext, isRemembered: Bool = false,
        sawPage: Bool = true
    ) async throws -> NewSession {
        let secret = Secret<Session>.random(from: random)
        let known = device(request)
        let device = known ?? Secret<Device>.random(from: random)
        let opening = Session.Opening(
            id: .random(from: random), secret: secret, device: device,
            userAgent: request.headers[.userAgent] ?? "", address: address(request), method: method,
            isRemembered: isRemembered, client: visit.client?.id.text
        ).doing(sawPage ? visit.introduction : nil)
        return NewSession(
            opening: opening, replaces: try await sessions.of(request, site), secret: secret,
            isOfDoubtfulClient: visit.client?.isDoubtful ?? false,
            cookies: [
                site.sessionCookie(secret, isRemembered: isRemembered), known == nil ? site.deviceCookie(device) : nil,
            ].compactMap { $0 })
    }

    /// How a try to sign in on our pages is remembered, by whatever client the person came.
    func login(_ request: Request, client: Client?) -> Login.Attempt {
        Login.Attempt(
            id: .random(from: random), client: client?.id.text, kind: .normal, address: address(request),
            userAgent: request.headers[.userAgent] ?? "")
    }

    func device(_ request: Request) -> Secret<Device>? { request.cookie(site.deviceCookie).map { Secret($0) } }

    func address(_ request: Request) -> String { address.of(request) }
}
