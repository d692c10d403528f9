import Authentication
public import Directory
import HTTP
public import HTTPSupport
public import OAuth
public import OpenID
import Pages
public import Values

/// `/oauth/authorize` (RFC 6749 §3.1): decides what is next for a browser, and does that one thing.
public struct AuthorizeEndpoint: Endpoint {
    static let path = PagePath.authorize

    let pages: PageRenderer
    private let answers: AuthorizationAnswers
    private let requestedSubject: RequestedSubject
    let requestObjects: RequestObjects
    private let consents: Consents
    private let introductions: Introductions
    private let sessions: Sessions
    private let clock: any WallClock

    public init(
        pages: PageRenderer, answers: AuthorizationAnswers, requestedSubject: RequestedSubject,
        requestObjects: RequestObjects,
        consents: Consents, introductions: Introductions, sessions: Sessions, clock: any WallClock
    ) {
        self.pages = pages
        self.answers = answers
        self.requestedSubject = requestedSubject
        self.requestObjects = requestObjects
        self.consents = consents
        self.introductions = introductions
        self.sessions = sessions
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        for entrance in [.init(Self.path), .init("/authorize")] + AuthorizationEntrance.ofSPiD {
            router.get("\(entrance.path)") { request, context in
                guard let form = try? request.query else {
                    return pages.brokenRequest(try await pages.visit(request))
                }
                return try await respond(form, by: entrance, request, context)
            }
            // From another site's form it comes without the browser's cookies, and a page would set new ones over them.
            // The same request by GET comes with them.
            router.post("\(entrance.path)") { request, context in
                let form = try Form.read(request)
                guard form.fitsOnward else { return try await pages.tooLongToContinue(request, context) }
                return .sendBrowser(to: "\(entrance.path)?\(form.pairs.encoded)", status: .seeOther)
            }
        }
    }

    private func respond(
        _ form: Form, by entrance: AuthorizationEntrance, _ http: Request, _ context: SpindleContext
    ) async throws -> Response {
        let (form, isPresent) = pages.forms.unmarked(entrance.form(form), of: http)
        let session = try await sessions.of(http, pages.site)
        func isKnown(_ client: Client) async throws -> Bool { try await knows(client, session, isPresent) }
        guard !holdsObject(form) else { return try await takeApart(form, http, context, isKnown: isKnown) }
        return try await pages.authorizing(form, http, context, isKnown: isKnown) { asked in
            let request = asked.trying(try pages.development?.trial(form))
            let form = form.complete(for: request.returnAddress.client)
            let visitor = try await visitor(session, request, isPresent)
            switch request.next(for: visitor, at: clock.now, hasAsked: form.hasAsked) {
            case .signIn where entrance.beginsWithSignUp && request.prompt.isEmpty:
                return .sendBrowser(to: form.signedIn.way(through: "/signup"), status: .seeOther)
            case .signIn:
                let known = visitor?.isMeant ?? false ? session : nil
                return try await signIn(request, form, http, known, confirming: false)
            case .confirm: return try await signIn(request, form, http, session, confirming: true)
            case .signUp: return .sendBrowser(to: form.signedIn.way(through: "/signup"), status: .seeOther)
            case .introduce:
                guard let session else { return .sendBrowser(to: form.onward, status: .seeOther) }
                let isFirst = visitor?.isIntroduced == false
                return try await pages.introduce(request, form, of: session, isFirst: isFirst, http)
            case .verify: return .sendBrowser(to: form.way(through: "/verify"), status: .seeOther)
            case .consent(let scope):
                guard let session else { return .sendBrowser(to: form.onward, status: .seeOther) }
                return try await pages.askConsent(scope, for: request, form, of: session, http)
            case .refuse(.accessDenied):
                throw OAuthError(
                    .accessDenied, "no_email", "The person has no e-mail address, and the client needs one.")
            case .refuse(.unmetAuthenticationRequirements):
                throw OAuthError(
                    .unmetAuthenticationRequirements, "essential_acr_unmet",
                    "The person signed in, but in none of the ways that the essential acr names.")
            case .refuse(let code):
                throw OAuthError(code, code.rawValue, "The person would have to be asked, and prompt=none forbids it.")
            case .respond: return try await give(request, session, form, http)
            }
        }
    }

    /// Whether the person of `session` has seen a page about `client` before.
    private func knows(_ client: Client, _ session: Session?, _ isPresent: Bool) async throws -> Bool {
        guard !isPresent else { return true }
        guard let session, session.kind.isGood(for: client) else { return false }
        return try await consents.find(session.user, client.id) != nil
    }

    private func visitor(
        _ session: Session?, _ request: AuthorizationRequest, _ isPresent: Bool
    ) async throws -> BrowserSessionState? {
        let client = request.returnAddress.client
        let isMeant = try await requestedSubject.isMeant(session?.user, by: request)
        guard let session else { return nil }
        let consented = client.firstParty ? nil : try await consents.find(session.user, client.id)?.scope
        return BrowserSessionState(
            subject: session.subject, session: session.kind,
            email: session.email == nil ? .none : session.emailVerified ? .verified : .unverified,
            consented: consented, isMeant: isMeant,
            isIntroduced: try await !introductions.isDue(session.user, to: client, in: session.id.text),
            isPresent: isPresent)
    }

    private func give(
        _ request: AuthorizationRequest, _ session: Session?, _ form: Form, _ http: Request
    ) async throws -> Response {
        let address = request.returnAddress
        guard let session,
            let answer = try await answers.answer(to: request, of: session.subject, in: session.id.text)
            // What was allowed was taken back a moment ago: ask again.
        else { return .sendBrowser(to: form.onward, status: .seeOther) }
        return try await pages.send(answer, for: address, http)
    }

    private func signIn(
        _ request: AuthorizationRequest, _ form: Form, _ http: Request, _ session: Session?, confirming: Bool
    ) async throws -> Response {
        if let door = pages.development {
            return .sendBrowser(to: door.way(to: form.signedIn.onward), status: .seeOther)
        }
        let issued = pages.forms.issue(http)
        let client = request.returnAddress.client
        let visit = try await pages.visit(http, client: client, uiLocales: form["ui_locales"])
        // Whoever is known by another address cannot confirm to be the one that is hinted at.
        let known = request.prompt.contains(.selectAccount) ? nil : session?.email
        let email = confirming ? session?.email : request.loginHint ?? known
        let onward = OnwardPath(form.signedIn.onward)
        let isAnew = request.prompt.contains(.login) || onward?.wantsFreshness == true
        let page = LoginPage(
            action: "/login", formToken: issued.token, continueTo: form.signedIn.onward, email: email ?? "",
            clientName: client.name, isConfirmation: confirming && email != nil, wantsAnew: isAnew,
            ways: try await pages.ways(for: visit, to: onward, of: session, isAnew: isAnew),
            cancel: LoginPage.Cancel(action: ConsentEndpoint.path, request: form.pairs.encoded))
        return pages.page(
            pages.templates.login(page, in: visit.frame), visit, cookies: [issued.setCookie], formsLeaveSite: true)
    }
}

extension Form {
    /// The path of a page that goes on to this request.
    func way(through page: String) -> String { "\(page)?continue=\(Form.encode(onward))" }
}

extension Session {
    /// Its person, in OAuth's words. A session that was bought is no sign-in of a kind that could be told.
    var subject: Subject {
        Subject(user: user, signedInAt: signedInAt, method: methodReference, session: id.text)
    }

    private var methodReference: String? {
        switch method {
        case .password, .mail: method.rawValue
        case .issuer, .issuerUndated: AuthenticationContext.byIssuer
        case .token: nil
        }
    }

    /// How it came about, in OAuth's words.
    var kind: BrowserSessionState.Session {
        switch origin {
        case .signIn where method == .issuer || method == .issuerUndated: .vouched(for: nil, isDated: method == .issuer)
        case .signIn: .signIn
        case .bought(let merchant): .bought(by: merchant.map { Merchant.ID($0) })
        case .vouched(let merchant): .vouched(for: Merchant.ID(merchant), isDated: method == .issuer)
        }
    }
}
