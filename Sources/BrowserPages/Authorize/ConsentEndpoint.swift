import Authentication
public import Directory
import HTTP
public import HTTPSupport
public import OAuth
import Pages
public import Values

/// `POST /oauth/consent`: a user's answer to an app's request: allow, deny, continue, or cancel before signing in.
public struct ConsentEndpoint: Endpoint {
    static let path = "/oauth/consent"

    private let pages: PageRenderer
    private let consents: Consents
    private let introductions: Introductions
    private let sessions: Sessions
    private let clock: any WallClock

    public init(
        pages: PageRenderer, consents: Consents, introductions: Introductions, sessions: Sessions,
        clock: any WallClock
    ) {
        self.pages = pages
        self.consents = consents
        self.introductions = introductions
        self.sessions = sessions
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        router.form(Self.path, .decide, from: "/login", use: decide)
    }

    @Sendable private func decide(_ http: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(http)
        guard pages.forms.accepts(form, of: http) else {
            return pages.foreignForm(http, try await pages.visit(http))
        }
        guard let id = Interaction.ID(carried: form["request"]) else {
            return pages.brokenRequest(try await pages.visit(http))
        }
        let asked = try await pages.interaction(id, http)
        // Before the client is read, because a consent counts for what the client was then.
        let now = clock.now
        return try await pages.authorizing(asked.form, http, context, isKnown: { _ in true }) { request in
            switch form["decision"] {
            case "continue": return try await goOn(form, request, asked, http)
            case "allow": return try await allow(form, request, asked, http, at: now)
            case "cancel":
                try await end(asked, http)
                let refusal = OAuthError(.accessDenied, "sign_in_cancelled", "The user cancelled the sign-in.")
                let address = request.returnAddress
                let answer = address.answer(cancelled: refusal, issuer: pages.site.issuer)
                return try await pages.send(answer, for: address, http).because(of: refusal)
            default:
                try await end(asked, http)
                throw OAuthError(.accessDenied, "consent_denied", "The user denied the request.")
            }
        }
    }

    /// A refusal consumes the sign-in; going back starts over.
    private func end(_ asked: Interaction, _ http: Request) async throws {
        _ = try await pages.interactions.answer(asked, in: pages.signInMark(http))
    }

    /// Returns to the request, after the user has seen which app it is from. If another user is signed in by now than
    /// the one the page named, that user is asked: the form does not count for them.
    private func goOn(
        _ form: Form, _ request: AuthorizationRequest, _ asked: Interaction, _ http: Request
    ) async throws -> Response {
        let client = request.returnAddress.client
        guard let session = try await sessions.of(http, pages.site), session.origin.isGood(for: client) else {
            return back(to: asked)
        }
        guard pages.forms.judge(form, of: http, by: session.user) == .accepted else {
            return try await pages.introduce(
                request, WaitingRequest(interaction: asked, form: pages.forms.issue(http)), of: session,
                isFirst: try await introductions.isDue(session.user, to: client, in: session.id), http)
        }
        try await introduce(session.user, to: client)
        try await pages.interactions.saw(asked, in: pages.signInMark(http))
        return back(to: asked)
    }

    private func introduce(_ user: UserID, to client: Client) async throws {
        try await introductions.introduce(user, to: client, at: clock.now)
    }

    private func back(to request: Interaction) -> Response {
        .sendBrowser(to: PagePath.authorize(request.id), status: .seeOther)
    }

    /// Stores what was allowed and returns to the request, narrowed to that.
    ///
    /// The answer counts only for the user who was asked, and for the app as it was then. If another user is signed in
    /// by now, or the app has another name, host or kind of subject, the request starts over and asks the current user.
    private func allow(
        _ form: Form, _ read: AuthorizationRequest, _ asked: Interaction, _ http: Request, at now: Timestamp
    ) async throws -> Response {
        let client = read.returnAddress.client
        guard let session = try await sessions.of(http, pages.site), session.origin.isGood(for: client) else {
            return back(to: asked)
        }
        guard pages.forms.judge(form, of: http, by: session.user) == .accepted, pages.forms.hasShown(client, on: form)
        else {
            try await pages.interactions.askAgain(asked)
            return back(to: asked)
        }
        // The last answer counts until the app has received one.
        let request = read.after(asked.answers(in: pages.signInMark(http)).withoutConsent, of: asked)
        let ticked = Scope(form.pairs.filter { $0.name == "scope" }.map(\.value))
        let consented = try await consents.find(session.user, client.id)?.scope
        guard let decision = request.decision(ticked: ticked, consented: consented) else {
            return back(to: asked)
        }
        // A claim without any scope is refused: the app could not tell it from everything it asked for.
        guard !decision.granted.intersection(request.scope).isEmpty || request.scope.isEmpty else {
            return try await pages.askConsent(
                decision.shown, for: request, WaitingRequest(interaction: asked, form: pages.forms.issue(http)),
                of: session, http, refusal: .nothingAllowed)
        }
        do {
            let isStored = try await consents.allow(
                decision.allowed, of: decision.shown, to: client, by: session.user, at: now,
                accepting: form.agreed(of: [client.terms])
            ) { db in try RevocationThrottle.charge(session.user, at: now, in: db) }
            guard isStored else {
                try await pages.interactions.askAgain(asked)
                return back(to: asked)
            }
        } catch PasswordSignIn.Refusal.throttled(let wait, _, _) {
            return try await pages.tooManyAttempts(wait, http)
        }
        try await introduce(session.user, to: client)
        try await pages.interactions.allowed(decision.granted, of: asked, in: pages.signInMark(http))
        return back(to: asked)
    }
}

extension PageRenderer {
    /// Asks the user of `session` for consent to `scope`.
    func askConsent(
        _ scope: Scope, for request: AuthorizationRequest, _ waiting: WaitingRequest, of session: Session,
        _ http: Request,
        refusal: PageRefusal? = nil
    ) async throws -> Response {
        let client = request.returnAddress.client
        let visit = try await visit(http, client: client, uiLocales: waiting.interaction.form[.uiLocales])
        let page = ConsentPage(
            clientName: client.name, maker: try await maker(of: client),
            scopes: scope.tokens.map {
                ConsentPage.Scope(name: $0, isRequired: ConsentDecision.isRequired($0))
            },
            action: ConsentEndpoint.path, formToken: waiting.form.showing(client).named(session.user).token,
            request: waiting.id,
            account: session.displayName, switchTo: waiting.switchTo, hasAccount: session.origin == .signIn,
            terms: client.terms.map { TermsLink($0, of: client) }, refusal: refusal)
        return self.page(
            templates.consent(page, in: visit.frame), visit, status: refusal == nil ? .ok : .badRequest,
            cookies: [waiting.form.setCookie], formsLeaveSite: true, refusal: refusal)
    }

    /// RFC 7591 §5: the user is told that only the client itself says what it is.
    private func maker(of client: Client) async throws -> ConsentPage.Maker {
        guard client.may(.bearMerchantsName) else { return .selfRegistered }
        guard let merchant = client.merchant else { return .platform }
        return try await merchants.find(merchant).map { .merchant($0.name) } ?? .platform
    }
}
