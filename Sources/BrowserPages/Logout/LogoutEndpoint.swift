import Authentication
public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
public import OpenID
import Pages
public import Values

/// `/logout`: a device's call with its token, or a page for a user in a browser.
public struct LogoutEndpoint: Endpoint {
    let pages: PageRenderer
    let tokens: AccessTokens
    private let families: TokenFamilies
    private let sessions: Sessions
    private let sessionClients: SessionClients
    let hints: IDTokenHints
    private let clock: any WallClock

    public init(
        pages: PageRenderer, tokens: AccessTokens, families: TokenFamilies, sessions: Sessions,
        sessionClients: SessionClients, hints: IDTokenHints, clock: any WallClock
    ) {
        self.pages = pages
        self.tokens = tokens
        self.families = families
        self.sessions = sessions
        self.sessionClients = sessionClients
        self.hints = hints
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        router.get("/logout", .signOut, use: show)
        router.get("/v2/logout", .signOut, use: show)
        router.get("/flow/logout", .signOut, use: show)
        router.post("/logout", .submitSignOut, use: submit)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        guard !request.isPrefetch else { return Response(status: .noContent) }
        let browser = try await sessions.all(of: request, pages.site)
        // Sessions that are set aside or rest end too, even when none is current.
        let session = browser.all.first
        let parameters = try request.query.parameters
        let named = try await clientInPlaceOfToken(parameters)
        // A client id in place of a token in the query does not count, but the header may contain a token.
        let presented =
            named == nil
            ? try PresentedToken.read(request)
            : try PresentedToken.find(request.headers, form: nil, query: nil)
        let token = try await endToken(
            presented, of: request, ofABrowser: session != nil || request.headers[.secFetchDest] == "document")
        let logout = try await logout(parameters, named, token, presented)
        logout.logUnregistered(to: context.logger)
        guard let session else {
            // A device gets JSON; a browser gets a page, or continues.
            if token != nil, logout.address == nil { return .json(.members(["result": "OK"])) }
            let answer = try await signedOut(request, logout, sawPage: false, isStillSignedIn: false)
            guard browser.ids.isEmpty, token == nil, logout.shown != nil, logout.address == nil,
                request.isOfProgram
            else { return answer }
            // A backend that calls what is meant for its user's browser would take a page for success.
            throw Self.noSession
        }
        // A token from this session, or a link on our own page, shows that the user wants this. A link on another site
        // or in a mail does not. Nor does a token from elsewhere, whose holder could hide the link in a page, nor an
        // image on our page.
        let isOwnLink =
            request.headers[.secFetchSite] == "same-origin" && request.headers[.secFetchDest] == "document"
        if isOwnLink { return try await end(browser, request, logout) }
        if request.isNavigation, let family = token?.family, try await families.isOf(session.id, family) {
            return try await end(browser, request, logout)
        }
        if try await logout.isShown(by: session) { return try await end(browser, request, logout) }
        if let client = logout.client, logout.isReturn(to: client, request),
            try await families.isSignedIn(client.id, in: session.id)
        {
            return try await end(browser, request, logout)
        }
        return try await ask(session, request, logout)
    }

    @Sendable private func submit(_ request: Request, context: SpindleContext) async throws -> Response {
        // A device's call may have no body.
        let form = request.headers[.contentType] == nil ? Form(pairs: []) : try Form.read(request)
        let parameters = try form.parameters
        if let presented = try PresentedToken.read(request, form: parameters) {
            _ = try await endToken(presented, of: request)
            return .json(.members(["result": "OK"]))
        }
        // A client's own form (RP-Initiated Logout §2) comes without the browser's cookies: repeat it by GET.
        if form["form_token"] == nil, LogoutRequest.isOfClient(parameters) {
            guard let address = form.address(at: "/logout") else {
                let detail = "The logout request is longer than 8 KiB."
                return pages.brokenRequest(try await pages.visit(request), detail: detail)
            }
            return .sendBrowser(to: address, status: .seeOther)
        }
        guard pages.forms.accepts(form, of: request) else {
            return pages.foreignForm(request, try await pages.visit(request))
        }
        let logout = try await logout(parameters, nil, nil, nil)
        // If sent twice, or signed out in another tab meanwhile, the user has what they want.
        let browser = try await sessions.all(of: request, pages.site)
        guard let session = browser.all.first else {
            return try await signedOut(request, logout, isStillSignedIn: false)
        }
        // Another user signed in meanwhile; the form was about the first.
        guard form[Self.namedUser].map({ $0 == session.user.description }) ?? true,
            !pages.forms.isOfAnother(form, than: session.user)
        else {
            return try await ask(session, request, logout)
        }
        return try await end(browser, request, logout)
    }

    private static let noSession = OAuthError(
        .invalidRequest, "logout_without_browser",
        "This page signs out the browser that opens it, and no browser did: no session was ended. A backend ends its "
            + "own tokens at /oauth/revoke.")

    /// The user that the form would sign out. Our other pages name them in the form's token.
    private static let namedUser = "person"

    private func ask(_ session: Session, _ request: Request, _ logout: LogoutRequest) async throws -> Response {
        let issued = pages.forms.issue(request)
        let page = LogoutPage(
            account: session.displayName, action: "/logout", formToken: issued.token,
            leaving: logout.leaves?.name,
            fields: logout.fields + [HiddenField(name: Self.namedUser, value: session.user.description)],
            unregistered: logout.unregistered)
        let visit = try await visit(request, logout)
        return pages.page(
            pages.templates.logout(page, in: visit.frame), visit, cookies: [issued.setCookie], formsLeaveSite: true)
    }

    private func visit(_ request: Request, _ logout: LogoutRequest) async throws -> PageContext {
        try await pages.visit(request, client: logout.client, uiLocales: logout.parameters[.uiLocales])
    }

    /// Ends the token of a link. In a browser a dead token counts as none, because its user still wants to sign out.
    private func endToken(
        _ presented: PresentedToken?, of request: Request, ofABrowser isOfABrowser: Bool
    ) async throws -> AccessToken? {
        guard let presented else { return nil }
        do {
            return try await endToken(presented, of: request)
        } catch let refusal as OAuthError where refusal.code == .invalidToken && isOfABrowser {
            return nil
        }
    }

    /// Ends the token, its refresh token and the sessions bought with it: they all belong to one token family.
    private func endToken(_ presented: PresentedToken, of request: Request) async throws -> AccessToken {
        // The token may have been in the URL, which is harmless because this request ends it. A token for another
        // resource server may be used by that server, which must not sign users out.
        let token: AccessToken
        do {
            token = try await tokens.require(presented, of: request, inQuery: true)
        } catch {
            try await families.logOut(resting: presented.secret, among: tokens, at: clock.now)
            throw error
        }
        guard let family = token.family else { throw OAuthError.userTokenNeeded }
        try await families.logOut(family, at: clock.now)
        return token
    }

    /// Ends every session of the browser: a sign-out leaves no user signed in. If the request asks for one client
    /// alone, the current user leaves that client, and the sessions stay.
    private func end(
        _ browser: HeldSessions, _ request: Request, _ logout: LogoutRequest
    ) async throws -> Response {
        if let client = logout.leaves {
            guard let session = browser.all.first else {
                return try await signedOut(request, logout, isStillSignedIn: false)
            }
            let now = clock.now
            do {
                try await sessionClients.leave(client.id, in: session, at: now) { db in
                    try RevocationThrottle.charge(session.user, at: now, in: db)
                }
            } catch PasswordSignIn.Refusal.throttled(let wait, _, _) {
                return try await pages.tooManyAttempts(wait, request)
            }
            return try await signedOut(request, logout)
        }
        try await sessions.end(browser.ids)
        return try await signedOut(request, logout)
    }

    /// Clears the cookies, which hold the sessions and remember the users.
    /// - Parameters: `sawPage` tells whether the user has seen a page about the client that asks, or that its token
    ///   comes from. `isStillSignedIn` tells whether a user is still signed in to the browser, perhaps at other clients
    ///   only.
    private func signedOut(
        _ request: Request, _ logout: LogoutRequest, sawPage: Bool = true, isStillSignedIn: Bool = true
    ) async throws -> Response {
        // Tokens that the client got in an expired session live on until its user signs out there.
        if let hint = logout.shown, let sid = hint.session {
            try await families.logOut(ofExpired: sid, subject: hint.subject, from: hint.client, at: clock.now)
        }
        let cleared = logout.leaves == nil ? pages.site.clearedSessionCookies : []
        if let address = logout.address, let client = logout.client, !client.may(.sendBrowsersOn), !sawPage {
            return pages.leaving(by: .redirect(address.location), try await visit(request, logout), cookies: cleared)
        }
        // An image that loads only when no user is signed in would tell any site so.
        if let address = logout.address, sawPage || request.isNavigation {
            return .sendBrowser(to: address.location, cookies: cleared)
        }
        let visit = try await visit(request, logout)
        let page = SignedOutPage(
            leaving: isStillSignedIn ? logout.leaves?.name : nil, unregistered: logout.unregistered)
        return pages.page(pages.templates.signedOut(page, in: visit.frame), visit, cookies: cleared)
    }
}

/// Which client asks for the logout.
extension LogoutEndpoint {
    /// The SPiD-compatible client whose id is sent in place of a token: SPiD's SDK for PHP does so when it has none.
    func clientInPlaceOfToken(_ parameters: OAuth.Parameters) async throws -> Client? {
        guard let text = parameters[.oauthToken] else { return nil }
        return try await pages.clients.findLive(ofScripts: Client.ID(text))
    }

    /// The client is the one that the request names, or the one whose token came with it. The token may be dead: a link
    /// on a web page is often old by the time it is followed.
    func logout(
        _ parameters: OAuth.Parameters, _ named: Client?, _ token: AccessToken?, _ presented: PresentedToken?
    ) async throws -> LogoutRequest {
        if let text = parameters[.idTokenHint] {
            return LogoutRequest(parameters, hinted: try await hints.read(text))
        }
        if let text = parameters[.clientID] {
            return try await logout(parameters, of: Client.ID(text), isNamed: presented == nil)
        }
        if let client = try await clientOfSDRN(parameters) ?? named {
            return LogoutRequest(parameters, client: client, isNamed: presented == nil)
        }
        var id = token?.client
        if id == nil, let presented { id = try await tokens.client(of: presented.secret) }
        guard let id else { return LogoutRequest(parameters, client: nil, isNamed: false) }
        return try await logout(parameters, of: id, isNamed: false)
    }

    private func logout(
        _ parameters: OAuth.Parameters, of id: Client.ID, isNamed: Bool
    ) async throws -> LogoutRequest {
        LogoutRequest(parameters, client: try await pages.clients.findLive(id), isNamed: isNamed)
    }

    private func clientOfSDRN(_ parameters: OAuth.Parameters) async throws -> Client? {
        guard let id = parameters[.clientSDRN].flatMap({ Client.ID(sdrn: $0) }) else { return nil }
        return try await pages.clients.findLive(ofScripts: id)
    }
}
