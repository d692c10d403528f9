public import Authentication
public import Cryptography
public import Federation
import HTTP
public import HTTPSupport
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
        router.get("/login/with/{issuer}", use: begin)
        router.get("/login/with/{issuer}/callback", use: finish)
        router.post("/login/with/{issuer}/callback", use: carryOn)
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
            return refuse(refusal, attempt, visit, context)
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
