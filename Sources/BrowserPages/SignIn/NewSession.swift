import Authentication
public import Cryptography
public import Directory
import HTTP
public import HTTPSupport
public import OAuth
import Values

/// A session that is about to be opened in a browser, and the cookies for it.
struct NewSession: Sendable {
    let opening: Session.Opening
    /// The browser's present session, which it replaces, also if that rests.
    let replaces: Session.ID?
    let secret: Secret<Session>
    /// The path to continue to, if a request waits for the sign-in.
    let onward: String?
    /// The session's cookie first.
    let cookies: [String]
}

/// Prepares sessions for browsers.
public struct NewSessions: Sendable {
    let sessions: Sessions
    let site: Site
    private let interactions: Interactions
    private let address: ClientAddress
    private let random: any RandomSource

    public init(
        sessions: Sessions, interactions: Interactions, site: Site, address: ClientAddress, random: any RandomSource
    ) {
        self.sessions = sessions
        self.interactions = interactions
        self.site = site
        self.address = address
        self.random = random
    }

    /// Prepares a session after a form of the page that `visit` rendered, which introduced the user to its merchant.
    ///
    /// A waiting request learns of the session in the transaction that opens it.
    /// - Parameters: `isRemembered` is the user's answer; nil if the page did not ask. `sawPage` tells whether there
    ///   was a page. `attempt` is the use of a mailed secret that the session follows, if any: the same use makes the
    ///   same session. `renewsDevice` gives the browser another mark, so that a copy of the old one is no longer known.
    ///   `trial` is what a developer tries out with the waiting request.
    func newSession(
        _ request: Request, by method: SignIn.Method, at visit: PageContext, isRemembered: Bool? = nil,
        sawPage: Bool = true, after attempt: VerificationAttempt? = nil, renewsDevice: Bool = false,
        trying trial: TokenTrial? = nil
    ) async throws -> NewSession {
        let secret = attempt?.session ?? .random(from: random)
        let known = renewsDevice ? nil : device(request)
        let device = known ?? attempt?.device ?? .random(from: random)
        let continuation = continuation(visit.destination, request, after: attempt)
        let introduction = sawPage ? visit.introduction : nil
        let marks = SignedOutMarks(request, site).fingerprints
        let opening = Session.Opening(
            id: .random(from: random), secret: secret, device: device,
            userAgent: request.headers[.userAgent] ?? "", address: address(request), method: method,
            isRemembered: isRemembered, client: visit.client?.id
        ).doing { [interactions] user, now, db in
            try introduction?(user, now, db)
            try NoticedSignIns.note(marks, at: now, in: db)
            guard let continuation else { return }
            try interactions.signedIn(
                continuation.interaction, as: continuation.id, in: continuation.browser,
                session: secret.fingerprint, isSeen: sawPage, trying: trial, at: now, in: db)
        }
        return NewSession(
            opening: opening, replaces: try await sessions.current(of: request, site)?.session.id, secret: secret,
            onward: continuation.map { PagePath.authorize($0.id) } ?? visit.destination?.path,
            cookies: [
                site.sessionCookie(secret, isRemembered: isRemembered == true),
                known == nil ? site.deviceCookie(device) : nil,
            ].compactMap { $0 })
    }

    /// The cookies of a session that has been opened, now or before. If it renewed a remembered session of its user, it
    /// is remembered too.
    func cookies(of opened: NewSession) async throws -> [String] {
        guard opened.opening.isRemembered == nil, try await sessions.find(opened.secret)?.isRemembered == true
        else { return opened.cookies }
        return [site.sessionCookie(opened.secret, isRemembered: true)] + opened.cookies.dropFirst()
    }

    /// A new secret for `session`, which counts once it is stored, and the cookie for it.
    func anotherSecret(for session: Session) -> (secret: Secret<Session>, cookie: String) {
        let secret = Secret<Session>.random(from: random)
        return (secret, site.sessionCookie(secret, isRemembered: session.isRemembered))
    }

    /// A new mark for a browser, which counts once it is stored, and the cookie for it.
    func anotherDevice() -> (secret: Secret<Device>, cookie: String) {
        let device = Secret<Device>.random(from: random)
        return (device, site.deviceCookie(device))
    }

    /// A request that continues in a browser, and its id there.
    private struct Continuation {
        let interaction: Interaction
        let id: Interaction.ID
        let browser: Fingerprint<Interaction.Browser>
    }

    /// Whether the request that waits at `destination` was begun in the browser of `request`, or in none, as by an app.
    func isOwn(_ destination: Destination?, _ request: Request) -> Bool {
        continuation(destination, request).map {
            $0.interaction.browser == nil || $0.interaction.isOf($0.browser)
        } ?? true
    }

    /// In its own browser the request continues as it is. If a mailed link was opened elsewhere, it continues there
    /// under a new id, and also stays open in the first browser.
    private func continuation(
        _ destination: Destination?, _ request: Request, after attempt: VerificationAttempt? = nil
    ) -> Continuation? {
        guard let interaction = destination?.interaction, let cookie = request.cookie(site.formCookie) else {
            return nil
        }
        let browser = Fingerprint<Browser>(of: cookie).ofInteraction
        let id =
            interaction.isOf(browser)
            ? interaction.id : interactions.another(of: interaction, by: attempt?.secret(of: Interaction.self))
        return Continuation(interaction: interaction, id: id, browser: browser)
    }

    /// How an attempt to sign in on our pages is recorded, with the client that the user came from.
    func login(_ request: Request, client: Client?) -> Login.Attempt {
        Login.Attempt(
            id: .random(from: random), client: client?.id, kind: .normal, address: address(request),
            userAgent: request.headers[.userAgent] ?? "")
    }

    func device(_ request: Request) -> Secret<Device>? { request.cookie(site.deviceCookie).map { Secret($0) } }

    func address(_ request: Request) -> String { address.of(request) }

    func place(_ request: Request) -> KnownDevices.Place {
        KnownDevices.Place(address: address(request), device: device(request))
    }
}
