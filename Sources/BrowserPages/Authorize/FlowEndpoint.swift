import Directory
import HTTP
public import HTTPSupport
import OAuth
import Pages

/// SPiD's other addresses for users, which apps open in a browser: for a forgotten password, and for the account.
public struct FlowEndpoint: Endpoint {
    private let pages: PageRenderer

    public init(pages: PageRenderer) { self.pages = pages }

    public func add(to router: inout Routes) {
        router.get("/flow/password", .leadToPassword, use: forgotten)
        router.get("/auth/forgotpassword", .leadToPassword, use: forgotten)
        router.get("/account/summary", .leadToAccount, isSafe: true, use: account)
        router.get("/profile-pages", .leadToAccount, isSafe: true, use: account)
    }

    /// Leads to the account page, which has a way back to the client's address.
    @Sendable private func account(_ request: Request, context: SpindleContext) async throws -> Response {
        .sendBrowser(to: AccountReturn(request)?.path ?? AccountEndpoint.path, status: .seeOther)
    }

    /// Leads to the form for a new password, and from there back to the app, without a code.
    @Sendable private func forgotten(_ request: Request, context: SpindleContext) async throws -> Response {
        guard let query = try? request.query else { return pages.brokenRequest(try await pages.visit(request)) }
        // One SDK appends its usual query to an address that has one, so the last value counts.
        let carried: [Parameter] = [.clientID, .redirectURI, .cancelRedirectURI, .state, .uiLocales]
        let spoken = query.withoutLocale
        let form = Form(
            pairs: [(Parameter.responseType.rawValue, ResponseType.nothing.description)]
                + carried.compactMap { parameter in spoken[parameter.rawValue].map { (parameter.rawValue, $0) } })
        return try await pages.authorizing(form, request, context) { _ in
            try await pages.waiting(nil, form, request) { $0.sendBrowser(to: PasswordEndpoint.path) }
        }
    }
}
