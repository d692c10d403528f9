public import Authentication
public import Cryptography
import Directory
public import Federation
import HTTP
public import HTTPSupport
import Logging
import OAuth
import Pages
import Text
public import Values

/// `/login/with/{issuer}`: sends users to sign in at another issuer. `…/callback`: receives them when they return.
public struct IdentityProviderEndpoint: Endpoint {
    let pages: PageRenderer
    let signIn: IdentityProviderSignIn
    let requests: IdentityProviderRequests
    let entrance: IdentityProviderEntrance
    let newSessions: NewSessions
    let restoring: Restoring
    private let clock: any WallClock
    let random: any RandomSource

    public init(
        pages: PageRenderer, signIn: IdentityProviderSignIn, requests: IdentityProviderRequests,
        entrance: IdentityProviderEntrance,
        newSessions: NewSessions, verifications: Verifications, clock: any WallClock, random: any RandomSource
    ) {
        self.pages = pages
        self.signIn = signIn
        self.requests = requests
        self.entrance = entrance
        self.newSessions = newSessions
        restoring = Restoring(pages: pages, verifications: verifications)
        self.clock = clock
        self.random = random
    }

    static func path(of issuer: TrustedIssuer.ID) -> String { "/login/with/\(issuer)" }

    public func add(to router: inout Routes) {
        router.get("/login/with/{issuer}", .signInElsewhere, use: begin)
        router.get("/login/with/{issuer}/callback", .comeBack, use: finish)
        router.post("/login/with/{issuer}/callback", .comeBackByForm, use: carryOn)
    }

    static func issuer(_ context: SpindleContext) throws -> TrustedIssuer.ID {
        TrustedIssuer.ID(try context.parameters.require("issuer"))
    }

    /// Only redirects the browser, so a link on our page may do it. A link from elsewhere leads to the page that asks:
    /// its sender may control the issuer, and sign the user in as any user (RFC 9700 §4.7).
    @Sendable private func begin(_ request: Request, context: SpindleContext) async throws -> Response {
        let query = Form.query(of: request.target.text)
        let visit = try await pages.visit(request, to: try await pages.destination(query["continue"], request))
        guard !request.isFromElsewhere else {
            let onward = visit.destination.map { "?continue=\(PercentEncoding.encode($0.text))" } ?? ""
            return .sendBrowser(to: "/login\(onward)", status: .seeOther)
        }
        let id = try Self.issuer(context)
        let isAnew = query["anew"] == "1" || visit.wantsFreshness
        let session = try await newSessions.sessions.of(request, pages.site)
        let known = try await pages.identityProviders(for: visit, of: session, isAnew: isAnew)
        guard let issuer = known.first(where: { $0.id == id }) else {
            return pages.message(.notFound, visit, status: .notFound)
        }
        let attempt = Attempt(
            issuer: issuer, continueTo: visit.destination, isAnew: isAnew && issuer.provesFreshness,
            isFromPage: request.isFromPage)
        return try await leave(attempt, request, visit, context)
    }

    /// The purpose for which a user is sent to an issuer.
    struct Attempt {
        let issuer: TrustedIssuer
        let continueTo: Destination?
        var isAnew = false
        var isFromPage = false
        /// The session that asked to link the issuer; nil for a sign-in.
        var linkingSession: IdentityProviderRequest.LinkingSession?
    }

    /// Sends the browser to the issuer.
    func leave(
        _ attempt: Attempt, _ request: Request, _ visit: PageContext, _ context: SpindleContext
    ) async throws -> Response {
        let form = pages.forms.issue(request)
        let providerRequest = IdentityProviderRequest(
            issuer: attempt.issuer.id, browser: form.browser, continueTo: attempt.continueTo?.text ?? "",
            isAnew: attempt.isAnew, isFromPage: attempt.isFromPage, linkingSession: attempt.linkingSession,
            at: clock.now)
        do {
            let address = try await signIn.begin(
                providerRequest, at: attempt.issuer, from: newSessions.address(request),
                language: visit.frame.language.rawValue)
            return .sendBrowser(to: address, status: .seeOther, cookies: [form.setCookie])
        } catch let refusal as IdentityProviderRefusal {
            return refuse(refusal, attempt, visit)
        }
    }
}

extension Request {
    /// Whether the user followed a link on a page of ours that was not in a frame. After a link from elsewhere, a user
    /// may return signed in without having seen any of our pages.
    fileprivate var isFromPage: Bool {
        headers[.secFetchSite] == "same-origin" && headers[.secFetchDest] == "document"
    }
}

/// Receives users who return from another issuer.
extension IdentityProviderEndpoint {
    /// A form from another site comes without the browser's cookies. The browser carries it on to `finish`, where its
    /// cookie decides. Nothing is stored that another browser could pick up.
    @Sendable func carryOn(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let id = try Self.issuer(context)
        let answer = form.pairs.filter { Self.answerParameters.contains($0.name) }.encoded
        guard form.state != nil, IdentityProviderAnswer(form.pairs) != nil, answer.utf8.count <= Self.longestAnswer
        else {
            return pages.brokenRequest(try await pages.visit(request))
        }
        return .sendBrowser(to: "\(IdentityProviderSignIn.path(of: id))?\(answer)", status: .seeOther)
    }

    private static let answerParameters: Set = ["state", "code", "error", "iss", "user"]
    /// In bytes: what fits into a request's target.
    private static let longestAnswer = 7000

    @Sendable func finish(_ request: Request, context: SpindleContext) async throws -> Response {
        guard let query = try? request.query, let state = query.state else {
            return pages.brokenRequest(try await pages.visit(request))
        }
        guard let issuer = try await pages.issuers.find(try Self.issuer(context)) else {
            return pages.message(.notFound, try await pages.visit(request), status: .notFound)
        }
        let spending = try await requests.spend(
            state, at: issuer.id, in: pages.forms.browser(request),
            by: Identifier<IdentityProviderRequest>.random(from: random).text)
        switch spending {
        case .refused(let reason):
            let visit = try await pages.visit(request)
            return pages.withoutCookie(
                request, visit,
                else: refuse(.gone(reason: reason), Attempt(issuer: issuer, continueTo: nil), visit))
        case .spent(let stored):
            let attempt = Attempt(
                issuer: issuer, continueTo: try await pages.destination(stored.continueTo, request),
                isAnew: stored.isAnew,
                isFromPage: stored.isFromPage, linkingSession: stored.linkingSession)
            let visit = try await pages.visit(request, to: attempt.continueTo)
            do {
                guard let answer = IdentityProviderAnswer(query.pairs) else {
                    throw IdentityProviderRefusal.mistrusted(reason: "neither code nor error")
                }
                let arriving = try await signIn.user(by: answer, to: stored, state, at: issuer)
                guard stored.linkingSession != nil else {
                    return try await enter(arriving, attempt, request, visit, context)
                }
                return try await connect(arriving, for: stored, attempt, request, visit, context)
            } catch let refusal as IdentityProviderRefusal {
                return refuse(refusal, attempt, visit)
            }
        }
    }

    private func enter(
        _ arriving: IdentityProviderUser, _ attempt: Attempt, _ request: Request, _ visit: PageContext,
        _ context: SpindleContext
    ) async throws -> Response {
        let newSession = try await newSessions.newSession(
            request, by: .issuer, at: visit, sawPage: attempt.isFromPage)
        switch try await entrance.enter(arriving, opening: newSession.opening, replacing: newSession.replaces) {
        case .entered:
            return .sendBrowser(
                to: newSession.onward ?? "/login", status: .seeOther,
                cookies: try await newSessions.cookies(of: newSession))
        case .leaving(let user, let isConfined):
            // Keeping the account signs the user in to all of it: more than a merchant's own issuer, or a link that a
            // merchant made, may do.
            guard attempt.issuer.isTrustedByAll, !isConfined else {
                return pages.message(
                    .accountDeletionScheduled, visit, values: ["dueAt": user.dueAt.dayText], status: .forbidden)
            }
            let page = try await restoring.offer(
                user, by: .issuer, of: attempt.issuer.id.text, request, visit)
            guard let page else {
                throw IdentityProviderRefusal.gone(reason: "user_gone_or_changed")
            }
            return page
        case .unknown: return say(.upstreamUnknown, .forbidden, attempt, visit)
        case .disabled: return say(.upstreamDisabled, .forbidden, attempt, visit)
        case .addressTaken: return say(.upstreamTaken, .conflict, attempt, visit)
        case .removed: return say(.upstreamRemoved, .conflict, attempt, visit)
        case .closed: throw IdentityProviderRefusal.closed
        }
    }

    /// Links the issuer only in the browser session in which its user asked for it, and only while the cookie is the
    /// same: the user has not changed and has not signed in again.
    private func connect(
        _ arriving: IdentityProviderUser, for stored: IdentityProviderRequest, _ attempt: Attempt, _ request: Request,
        _ visit: PageContext,
        _ context: SpindleContext
    ) async throws -> Response {
        let session = try await newSessions.sessions.of(request, pages.site)
        guard let session, stored.linkingSession == .init(session), session.createdAt <= stored.createdAt,
            session.origin == .signIn
        else {
            throw IdentityProviderRefusal.gone(reason: "signed_out_meanwhile")
        }
        switch try await entrance.connect(arriving, in: session) {
        case .connected: return .sendBrowser(to: AccountEndpoint.path + "?done=connected", status: .seeOther)
        case .taken: return say(.upstreamNotConnected, .conflict, attempt, visit)
        case .closed: throw IdentityProviderRefusal.closed
        case .signedOut: throw IdentityProviderRefusal.gone(reason: "signed_out_meanwhile")
        }
    }
}

extension Form {
    /// `state`, if it occurs once and could be one of ours.
    fileprivate var state: IdentityProviderRequests.State? {
        let all = pairs.filter { $0.name == "state" }
        guard all.count == 1, let text = all.first?.value, (1...128).contains(text.utf8.count) else { return nil }
        return Secret(text)
    }
}

/// What users see when they are not signed in, and how they continue.
extension IdentityProviderEndpoint {
    func refuse(
        _ refusal: IdentityProviderRefusal, _ attempt: Attempt, _ visit: PageContext
    ) -> Response {
        let level: Logger.Level =
            switch refusal {
            case .failed, .mistrusted, .unavailable: .warning
            case .tooMany, .tooManyNewcomers, .gone, .declined, .stale, .closed: .info
            }
        let cause = NamedRefusal(refusal.reason, level: level, ["issuer": "\(attempt.issuer.id)"])
        return page(of: refusal, attempt, visit).because(of: cause)
    }

    private func page(
        of refusal: IdentityProviderRefusal, _ attempt: Attempt, _ visit: PageContext
    ) -> Response {
        switch refusal {
        case .tooMany(let wait), .tooManyNewcomers(let wait):
            return pages.message(.tooManyAttempts, visit, status: .tooManyRequests).asking(toWait: wait)
        case .gone: return page(.upstreamGone, .gone, attempt, visit)
        case .declined: return page(.upstreamDeclined, .forbidden, attempt, visit)
        case .failed, .mistrusted: return page(.upstreamFailed, .badGateway, attempt, visit)
        case .unavailable: return page(.upstreamUnavailable, .serviceUnavailable, attempt, visit)
        case .stale: return page(.upstreamStale, .forbidden, attempt, visit)
        case .closed: return page(.upstreamFailed, .forbidden, attempt, visit)
        }
    }

    /// The page for a user who did sign in there, but not here.
    func say(
        _ topic: MessagePage.Topic, _ status: Status, _ attempt: Attempt, _ visit: PageContext
    ) -> Response {
        page(topic, status, attempt, visit).because(topic.reason, ["issuer": "\(attempt.issuer.id)"])
    }

    private func page(
        _ topic: MessagePage.Topic, _ status: Status, _ attempt: Attempt, _ visit: PageContext
    ) -> Response {
        let onward = "?continue=\(PercentEncoding.encode(attempt.continueTo?.text ?? ""))"
        let again =
            attempt.linkingSession != nil
            ? AccountEndpoint.path : "/login" + onward + (attempt.isAnew ? "&confirm=1&anew=1" : "")
        return pages.message(
            topic, visit,
            values: ["name": attempt.issuer.title, "again": again, "signUp": SignUpEndpoint.path + onward],
            status: status)
    }
}
