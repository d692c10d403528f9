public import Authentication
public import Directory
import HTTP
public import HTTPSupport
public import OAuth
public import OpenID
import Pages
import Storage
public import Values

/// `/oauth/authorize` (RFC 6749 §3.1): decides on a browser's next step, and takes it.
public struct AuthorizeEndpoint: Endpoint {
    static let path = PagePath.authorize

    let pages: PageRenderer
    private let answers: AuthorizationAnswers
    private let requestedSubject: RequestedSubject
    let requestObjects: RequestObjects
    private let consents: Consents
    private let introductions: Introductions
    private let sessionClients: SessionClients
    private let sessions: Sessions
    private let users: Users
    private let clock: any WallClock

    public init(
        pages: PageRenderer, answers: AuthorizationAnswers, requestedSubject: RequestedSubject,
        requestObjects: RequestObjects,
        consents: Consents, introductions: Introductions, sessionClients: SessionClients, sessions: Sessions,
        users: Users,
        clock: any WallClock
    ) {
        self.pages = pages
        self.answers = answers
        self.requestedSubject = requestedSubject
        self.requestObjects = requestObjects
        self.consents = consents
        self.introductions = introductions
        self.sessionClients = sessionClients
        self.sessions = sessions
        self.users = users
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        for entrance in [.init(Self.path), .init("/authorize")] + AuthorizationEntrance.ofSPiD {
            router.get("\(entrance.path)", .authorize) { request, context in
                guard let form = try? request.query else {
                    return pages.brokenRequest(try await pages.visit(request))
                }
                return try await respond(form, by: entrance, request, context)
            }
            // A form from another site comes without the browser's cookies, and a page would overwrite them with new
            // ones. The same request by GET includes them.
            router.post("\(entrance.path)", .authorizeByForm) { request, context in
                let form = try Form.read(request)
                // A request too long for an address is stored here instead.
                guard let address = form.address(at: entrance.path) else {
                    return try await carry(form, by: entrance, request)
                }
                return .sendBrowser(to: address, status: .seeOther)
            }
        }
    }

    /// Stores the request in `form` until the browser returns. Its size is limited, because anyone can post one.
    /// `spend` runs in the same transaction and spends what the request came in; `refuse` answers its error.
    func carry(
        _ form: Form, by entrance: AuthorizationEntrance, _ http: Request,
        spend: @escaping @Sendable (any Transaction) throws -> Void = { _ in },
        refuse: (OAuthError) async throws -> Response = { throw $0 }
    ) async throws -> Response {
        guard form.isShortEnoughToStore else {
            throw OAuthError(
                .requestTooLarge, "authorization_request_too_large", "The authorization request is larger than 16 KiB.")
        }
        let beginning: Interactions.Beginning
        do {
            beginning = try await pages.begin(form, in: nil, http, spend: spend)
        } catch let refusal as OAuthError {
            return try await refuse(refusal)
        }
        return switch beginning {
        case .begun(let interaction):
            .sendBrowser(to: "\(entrance.path)?continue=\(interaction.id.value)", status: .seeOther)
        case .wait(let wait): try await pages.tooManyAttempts(wait, http)
        }
    }

    /// A request as it came, or as it was stored here.
    private struct Incoming {
        let form: Form
        var interaction: Interaction?
        let entrance: AuthorizationEntrance
    }

    private func respond(
        _ query: Form, by entrance: AuthorizationEntrance, _ http: Request, _ context: SpindleContext
    ) async throws -> Response {
        guard query[.clientID] == nil, let id = Interaction.ID(carried: query["continue"]) else {
            return try await respond(Incoming(form: entrance.form(query), entrance: entrance), http, context)
        }
        guard var found = try await pages.interactions.find(id),
            found.browser == nil || found.isOf(pages.forms.browser(http)?.ofInteraction)
        else { throw InteractionGone() }
        if query[.prompt] == Prompt.selectAccount.rawValue, found.browser != nil {
            guard let passedOn = try await pages.interactions.passOn(found) else { throw InteractionGone() }
            found = passedOn
        }
        let incoming = Incoming(form: entrance.form(found.form), interaction: found, entrance: entrance)
        return try await respond(incoming, http, context)
    }

    private func respond(_ incoming: Incoming, _ http: Request, _ context: SpindleContext) async throws -> Response {
        let (form, interaction) = (incoming.form, incoming.interaction)
        let browser = try await sessions.all(of: http, pages.site)
        let session = browser.signedIn
        let answers = interaction?.answers(in: session == nil ? nil : pages.signInMark(http)) ?? .none
        let isPresent = answers.isPresent(at: clock.now)
        func isKnown(_ client: Client) async throws -> Bool { try await knows(client, session, isPresent) }
        guard !holdsObject(form) else { return try await takeApart(form, http, context, isKnown: isKnown) }
        return try await pages.authorizing(form, http, context, isKnown: isKnown) { asked in
            // In a session that an app bought, the user is already known to be the app's.
            let begins = incoming.entrance.beginsWithPicker && session?.buyer == nil
            let request = (begins ? asked.asking() : asked).trying(try pages.development?.trial(form))
                .after(answers, of: interaction)
            let wasGone = try await isGone(session, from: request.returnAddress.client)
            let state = try await browserState(session, request, isGone: wasGone && !answers.isBack, isPresent)
            let choices = try await choices(of: browser, for: request, isGone: wasGone)
            let step = request.next(
                for: state, at: clock.now, hasAsked: answers.isSignedIn, canPick: !choices.isEmpty)
            switch step {
            case .respond: return try await give(request, session, incoming, http, isBack: wasGone)
            case .refuse(let code): throw Self.refusal(code, of: request)
            case .signIn, .pick, .confirm, .signUp, .verify, .introduce, .consent:
                return try await pages.waiting(interaction, form, http, isSignedIn: session != nil) { waiting in
                    switch step {
                    case .signIn where incoming.entrance.beginsWithSignUp && request.prompt.isEmpty:
                        return waiting.sendBrowser(to: SignUpEndpoint.path)
                    case .signUp: return waiting.sendBrowser(to: SignUpEndpoint.path)
                    case .verify: return waiting.sendBrowser(to: VerifyEndpoint.path)
                    case .pick: return try await pages.pick(among: choices, for: request, waiting, users, http)
                    case .confirm: return try await signIn(request, waiting, http, session, confirming: true)
                    case .introduce:
                        guard let session else { break }
                        let isFirst = state?.isIntroduced == false
                        return try await pages.introduce(request, waiting, of: session, isFirst: isFirst, http)
                    case .consent(let scope):
                        guard let session else { break }
                        return try await pages.askConsent(scope, for: request, waiting, of: session, http)
                    case .signIn, .respond, .refuse: break
                    }
                    let known = state?.isMeant ?? false ? session : nil
                    return try await signIn(request, waiting, http, known, confirming: false)
                }
            }
        }
    }

    private static func refusal(_ code: OAuthError.Code, of request: AuthorizationRequest) -> OAuthError {
        switch code {
        case .loginRequired where !request.prompt.contains(.none):
            OAuthError(
                .loginRequired, "another_user_signed_in", "Another user signed in than the one the request names.")
        case .accessDenied:
            OAuthError(.accessDenied, "no_email", "The user has no e-mail address, and the client requires one.")
        case .unmetAuthenticationRequirements:
            OAuthError(
                .unmetAuthenticationRequirements, "essential_acr_unmet",
                "The user signed in, but the sign-in meets none of the essential acr values.")
        default:
            OAuthError(code, code.rawValue, "The user would have to be asked, which prompt=none forbids.")
        }
    }

    /// Whether the user of `session` has seen a page about `client` before.
    private func knows(_ client: Client, _ session: Session?, _ isPresent: Bool) async throws -> Bool {
        guard !isPresent else { return true }
        guard let session, session.origin.isGood(for: client) else { return false }
        return try await consents.find(session.user, client.id) != nil
    }

    /// The users that this request may continue as without a sign-in. Developers have a separate page for that.
    private func choices(
        of browser: HeldSessions, for request: AuthorizationRequest, isGone: Bool
    ) async throws -> [Session] {
        guard pages.development == nil, !request.prompt.contains(.none),
            isGone || request.prompt.contains(.selectAccount) || browser.hasOthers
        else { return [] }
        var choices: [Session] = []
        for session in browser.live where session.origin.isGood(for: request.returnAddress.client) {
            if try await requestedSubject.isMeant(session.user, by: request) { choices.append(session) }
        }
        return choices
    }

    private func isGone(_ session: Session?, from client: Client) async throws -> Bool {
        guard let session else { return false }
        return try await sessionClients.isGone(session.id, from: client.id)
    }

    private func browserState(
        _ session: Session?, _ request: AuthorizationRequest, isGone: Bool, _ isPresent: Bool
    ) async throws -> BrowserSessionState? {
        let client = request.returnAddress.client
        let isMeant = try await requestedSubject.isMeant(session?.user, by: request)
        guard let session else { return nil }
        let consented = client.may(.skipConsent) ? nil : try await consents.find(session.user, client.id)?.scope
        return BrowserSessionState(
            subject: Subject(session), origin: session.origin, isDated: session.signIn.isDated,
            email: session.email == nil ? .none : session.emailVerified ? .verified : .unverified,
            consented: consented, isMeant: isMeant,
            isIntroduced: try await !introductions.isDue(session.user, to: client, in: session.id),
            isGone: isGone, isPresent: isPresent)
    }

    private func give(
        _ request: AuthorizationRequest, _ session: Session?, _ incoming: Incoming, _ http: Request, isBack: Bool
    ) async throws -> Response {
        let address = request.returnAddress
        if isBack, let session { try await sessionClients.comeBack(to: address.client.id, in: session.id) }
        do {
            guard let session, try await isFirst(incoming.interaction, http),
                let answer = try await answers.answer(to: request, in: session)
            else {
                // The consent was revoked a moment ago, or another tab was faster: ask again.
                return try await pages.waiting(incoming.interaction, incoming.form, http) {
                    $0.sendBrowser(to: Self.path)
                }
            }
            return try await pages.send(answer, for: address, http)
        } catch let refusal as OAuthError where refusal.code == .tooManyRequests {
            let visit = try await pages.visit(http, client: address.client)
            let page = pages.message(.tooManyAttempts, visit, status: .tooManyRequests)
            return (refusal.retryAfter.map(page.asking(toWait:)) ?? page).because(of: refusal)
        }
    }

    /// Whether a stored request has no answer yet.
    private func isFirst(_ interaction: Interaction?, _ http: Request) async throws -> Bool {
        guard let interaction else { return true }
        return try await pages.interactions.answer(interaction, in: pages.signInMark(http))
    }

    private func signIn(
        _ request: AuthorizationRequest, _ waiting: WaitingRequest, _ http: Request, _ session: Session?,
        confirming: Bool
    ) async throws -> Response {
        if let development = pages.development {
            return .sendBrowser(
                to: development.way(to: waiting.interaction), status: .seeOther, cookies: [waiting.form.setCookie])
        }
        let client = request.returnAddress.client
        let visit = try await pages.visit(http, client: client, to: .request(waiting.interaction))
        // A user known by another address cannot confirm to be the hinted one.
        let known = request.prompt.contains(.selectAccount) ? nil : session?.email
        let email = confirming ? session?.email : request.loginHint ?? known
        let page = LoginPage(
            action: "/login", formToken: waiting.form.token, continueTo: waiting.id, email: email ?? "",
            clientName: client.name, isConfirmation: confirming && email != nil, wantsAnew: visit.wantsFreshness,
            ways: try await pages.ways(for: visit, of: session, isAnew: visit.wantsFreshness),
            cancel: visit.cancel(at: pages.site))
        return pages.page(
            pages.templates.login(page, in: visit.frame), visit.framable, cookies: [waiting.form.setCookie],
            formsLeaveSite: true)
    }
}

extension AuthorizeEndpoint {
    /// Whether the request is in a request object, by value or by reference.
    func holdsObject(_ form: Form) -> Bool {
        [Parameter.request, .requestURI].contains { form[$0.rawValue]?.isEmpty == false }
    }

    /// Opens a request object, and spends it. The browser continues with its parameters, which are stored here.
    func takeApart(
        _ form: Form, _ http: Request, _ context: SpindleContext, isKnown: (Client) async throws -> Bool
    ) async throws -> Response {
        func refuse(_ refusal: OAuthError) async throws -> Response {
            try await pages.answering(form, http, context, ofObject: refusal, isKnown: isKnown) { _, _ in
                throw refusal
            }
        }
        let found: (form: Form, object: RequestObjects.Opened)
        do {
            guard let opened = try await opened(form, http) else {
                return try await pages.answering(form, http, context) { _, _ in throw OAuthError.noClient }
            }
            found = opened
        } catch let refusal as OAuthError {
            return try await refuse(refusal)
        }
        return try await carry(
            found.form, by: AuthorizationEntrance(Self.path), http, spend: found.object.spend, refuse: refuse)
    }

    /// The object, and its parameters over those beside it (Core §6.1). Nil when the client is unknown.
    private func opened(_ form: Form, _ http: Request) async throws -> (form: Form, object: RequestObjects.Opened)? {
        let parameters = try form.parameters
        guard let id = parameters[.clientID], let client = try await pages.clients.findLive(Client.ID(id)) else {
            return nil
        }
        let object: RequestObjects.Opened
        switch (parameters[.request], parameters[.requestURI]) {
        case (nil, nil): return nil
        case (let text?, nil): object = try await requestObjects.open(text, from: client)
        case (nil, let address?):
            object = try await requestObjects.open(at: address, from: client, for: pages.address.of(http))
        case (.some, .some): throw OAuthError.requestTwice
        }
        let inside = object.parameters
        if let beside = parameters[.responseType], let type = inside.first(where: { $0.name == "response_type" })?.value
        {
            guard beside == type else {
                throw OAuthError.requestObjectRefused(
                    "request_object_response_type", "its response_type differs from the one beside it")
            }
        }
        let replaced = Set(inside.map(\.name) + [Parameter.request, .requestURI].map(\.rawValue))
        return (Form(pairs: form.pairs.filter { !replaced.contains($0.name) } + inside), object)
    }
}
