import HTTPTypes
public import Hummingbird
public import Identity
import JOSE
public import OAuth
import Pages
public import Values

/// `/logout`: a device's call with its token, or a page for a person in a browser.
public struct LogoutEndpoint: Endpoint {
    private let pages: PageRenderer
    private let tokens: AccessTokens
    private let permissions: Permissions
    private let sessions: Sessions
    private let clock: any WallClock

    public init(
        pages: PageRenderer, tokens: AccessTokens, permissions: Permissions, sessions: Sessions, clock: any WallClock
    ) {
        self.pages = pages
        self.tokens = tokens
        self.permissions = permissions
        self.sessions = sessions
        self.clock = clock
    }

    public func add(to router: RouterGroup<SpindleContext>) {
        router.get("/logout", use: show)
        router.post("/logout", use: submit)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let session = try await sessions.of(request, pages.site)
        let tokensAccount = try PresentedToken.read(request) == nil ? nil : try await endToken(request)
        guard let session else {
            // A browser without a session is told so; a device is answered in its own language.
            return tokensAccount != nil ? .json(.members(["result": "OK"])) : signedOut
        }
        // The same person's token, or a link on our own page, shows whose wish this is. Another site's link shows
        // nothing, nor does one with the token of somebody else in it.
        let isOwnWish =
            tokensAccount == session.account || ["same-origin", "none"].contains(request.headers[.secFetchSite])
        guard !isOwnWish else { return try await end(session) }
        let form = pages.forms.issue(request)
        return .page(
            pages.templates.logout(
                LogoutPage(account: session.displayName, action: "/logout", formToken: form.token)),
            cookies: [form.setCookie])
    }

    @Sendable private func submit(_ request: Request, context: SpindleContext) async throws -> Response {
        // A device's call may have no body at all.
        let form = request.headers[.contentType] == nil ? Form(pairs: []) : try await Form.read(request)
        if try PresentedToken.read(request, form: form.parameters) != nil {
            try await endToken(request, form)
            return .json(.members(["result": "OK"]))
        }
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm }
        guard let session = try await sessions.of(request, pages.site) else { return signedOut }
        return try await end(session)
    }

    /// The token, the refresh token tied to it and the sessions bought with it: all hang on one permission.
    @discardableResult
    private func endToken(_ request: Request, _ form: Form = Form(pairs: [])) async throws -> AccountID? {
        // A token in a URL that ends it is nobody's gain.
        let token = try await tokens.require(request, form: form.parameters, inQuery: true)
        guard let permission = token.permission else { throw OAuthError.userTokenNeeded }
        try await permissions.logOut(permission, at: clock.now)
        return token.account
    }

    private func end(_ session: Session) async throws -> Response {
        try await sessions.end(session.id)
        return signedOut
    }

    private var signedOut: Response {
        .page(pages.templates.signedOut(SignedOutPage()), cookies: [pages.site.clearedSessionCookie])
    }
}
