public import Authentication
public import Cryptography
public import Directory
import HTTP
public import HTTPSupport
public import OAuth
import Pages
import Text
public import Values

/// `GET /auth/session/{code}`: signs the phone's user in to a webview.
public struct SessionCodeEndpoint: Endpoint {
    private let pages: PageRenderer
    private let exchange: SessionExchange
    private let sessions: Sessions
    private let users: Users
    private let address: ClientAddress
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        pages: PageRenderer, exchange: SessionExchange, sessions: Sessions, users: Users, address: ClientAddress,
        clock: any WallClock, random: any RandomSource
    ) {
        self.pages = pages
        self.exchange = exchange
        self.sessions = sessions
        self.users = users
        self.address = address
        self.clock = clock
        self.random = random
    }

    public func add(to router: inout Routes) {
        for path in ["/auth/session/{code}", "/session/{code}"] {
            router.get("\(path)", .openSession, use: open)
            router.post("\(path)", .confirmSession, use: confirm)
        }
    }

    @Sendable private func open(_ request: Request, context: SpindleContext) async throws -> Response {
        // Only a top-level navigation spends a code: no frame, image or script on another page, and no prefetch.
        if let destination = request.headers[.secFetchDest], destination != "document" {
            return pages.message(.sessionLinkEmbedded, try await pages.visit(request), status: .forbidden)
                .because("session_code_embedded")
        }
        guard !request.isPrefetch else { return Response(status: .noContent) }
        return try await refusalsAsPages(request, context) {
            let code = try context.code
            let held = try await sessions.current(of: request, pages.site)
            let session = held?.session
            let entitlement = try await exchange.look(at: code)
            let user = entitlement.user
            // Does not spend the code when the same user is signed in already. A link from elsewhere must not sign in
            // unasked: the code's user may be the sender of the link (RFC 9700 §4.7).
            guard session?.user != user, session != nil || request.isFromElsewhere else {
                return try await spend(code, replacing: held, request, context)
            }
            return try await askToSwitch(from: session, to: user, request, code)
        }
    }

    @Sendable private func confirm(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        guard pages.forms.accepts(form, of: request) else {
            return pages.foreignForm(request, try await pages.visit(request))
        }
        guard form["decision"] == "allow" else { return .sendBrowser(to: "/login", status: .seeOther) }
        return try await refusalsAsPages(request, context) {
            let code = try context.code
            let held = try await sessions.current(of: request, pages.site)
            // The page named the user who was signed in then. Another user's session must not end by it.
            if let session = held?.session, pages.forms.judge(form, of: request, by: session.user) != .accepted {
                let other = try await exchange.look(at: code).user
                if session.user != other { return try await askToSwitch(from: session, to: other, request, code) }
            }
            return try await spend(code, replacing: held, request, context)
        }
    }

    private func spend(
        _ code: Secret<ExchangeCode>, replacing held: HeldSessions.Held?, _ request: Request, _ context: SpindleContext
    ) async throws -> Response {
        let secret = Secret<Session>.random(from: random)
        let id = Session.ID.random(from: random)
        let (userAgent, from) = (request.headers[.userAgent] ?? "", address.of(request))
        let now = clock.now
        let old = held?.session
        // The user's own sign-in is worth more than what a token buys, and outlives that token: while live, it stays.
        let kept = held.flatMap { $0.isLive && $0.session.origin == .signIn ? $0.session : nil }
        let announcement = sessions.announcement(at: now)
        let marks = SignedOutMarks(request, pages.site).fingerprints
        let entitlement = try await exchange.spend(code, attempt: id.text, at: now) { entitlement, db in
            if let kept, kept.user == entitlement.user {
                // If the user had signed out of this client alone, they are back.
                return try SessionClients.comeBack(to: entitlement.client, in: kept.id, db)
            }
            try Sessions.open(
                Session.Opening(
                    id: id, secret: secret, userAgent: userAgent, address: from, for: entitlement.client,
                    boughtBy: entitlement.purchase),
                user: entitlement.user, replacing: old?.id, at: now, in: db, announcement)
            // It takes the place of the previous one if the same tokens bought both.
            if let old { try SessionClients.keep(in: old.id, exceptOf: entitlement.client, at: now, db) }
            try NoticedSignIns.note(marks, at: now, in: db)
        }
        announcement.send()
        let isKept = kept?.user == entitlement.user
        return .sendBrowser(
            to: entitlement.destination, cookies: [isKept ? nil : pages.site.sessionCookie(secret)])
    }

    private func askToSwitch(
        from session: Session?, to other: UserID, _ request: Request, _ code: Secret<ExchangeCode>
    ) async throws -> Response {
        let issued = pages.forms.issue(request)
        let name = try await users.find(other)?.email ?? "user \(other)"
        let page = SwitchAccountPage(
            current: session?.displayName, other: name, action: "/auth/session/\(PercentEncoding.encode(code.value))",
            formToken: session.map { issued.named($0.user).token } ?? issued.token)
        let visit = try await pages.visit(request)
        return pages.page(
            pages.templates.switchAccount(page, in: visit.frame), visit, cookies: [issued.setCookie],
            formsLeaveSite: true)
    }

    /// Answers a spent, expired or unknown code with a page: no cookie, and never a redirect.
    private func refusalsAsPages(
        _ request: Request, _ context: SpindleContext, _ work: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await work()
        } catch SessionExchange.Refusal.unknown {
            return pages.message(.sessionLinkUnknown, try await pages.visit(request), status: .notFound)
                .because("session_code_unknown")
        } catch SessionExchange.Refusal.gone(let reason) {
            return pages.message(.sessionLinkGone, try await pages.visit(request), status: .gone).because(reason)
        }
    }
}

extension SpindleContext {
    fileprivate var code: Secret<ExchangeCode> {
        get throws { Secret(try parameters.require("code")) }
    }
}

extension Request {
    /// Whether another site's link or form led here. An app that opens an address is not a site.
    var isFromElsewhere: Bool {
        headers[.secFetchSite].map { $0 != "none" && $0 != "same-origin" } ?? false
    }

    /// Whether the browser only prefetches, without the user having gone there.
    var isPrefetch: Bool {
        [headers[.secPurpose], headers[.purpose], headers[.xMoz]].contains { $0?.contains("prefetch") ?? false }
    }
}
