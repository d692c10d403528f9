import Foundation
import HTTPTypes
import Logging
public import Hummingbird
public import Identity
public import OAuth
import Pages
public import Values

/// `/oauth/authorize` (RFC 6749 §3.1): decides what is next for a browser, and does that one thing.
public struct AuthorizeEndpoint: Endpoint {
    static let path = "/oauth/authorize"
    private static let aliases = ["/authorize", "/flow/login", "/flow/auth", "/flow/signup", "/flow/signin"]
    private static let consentPath = "/oauth/consent"

    private let pages: PageRenderer
    private let clients: Clients
    private let merchants: Merchants
    private let codes: AuthorizationCodes
    private let sessions: Sessions
    private let clock: any WallClock

    public init(
        pages: PageRenderer, clients: Clients, merchants: Merchants, codes: AuthorizationCodes, sessions: Sessions,
        clock: any WallClock
    ) {
        self.pages = pages
        self.clients = clients
        self.merchants = merchants
        self.codes = codes
        self.sessions = sessions
        self.clock = clock
    }

    public func add(to router: RouterGroup<SpindleContext>) {
        for path in [Self.path] + Self.aliases {
            router.get("\(path)") { request, context in
                try await respond(try request.query, request, context, consent: .unasked)
            }
            router.post("\(path)") { request, context in
                try await respond(try await Form.read(request), request, context, consent: .unasked)
            }
        }
        router.post("\(Self.consentPath)", use: decide)
    }

    private enum Consent { case unasked, given, denied }

    @Sendable private func decide(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try await Form.read(request)
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm }
        let consent: Consent = form["decision"] == "allow" ? .given : .denied
        return try await respond(try Form.parse(form["request"] ?? ""), request, context, consent: consent)
    }

    private func respond(
        _ form: Form, _ request: Request, _ context: SpindleContext, consent: Consent
    ) async throws -> Response {
        let parameters: OAuth.Parameters
        let returnAddress: ReturnAddress
        do {
            parameters = try form.parameters
            returnAddress = try await ReturnAddress(parameters, clients: clients)
        } catch let refusal as ReturnAddress.Refusal {
            context.logger.info("refused", metadata: ["reason": "\(refusal.reason)"])
            return refusal.page(pages)
        } catch let refusal as OAuthError {
            refusal.log(to: context.logger)
            return pages.message("This link is broken", refusal.hint, status: refusal.status)
        }
        do {
            let request = (http: request, oauth: try AuthorizationRequest(parameters, returnAddress: returnAddress))
            return try await proceed(request.oauth, form, request.http, consent: consent)
        } catch let refusal as OAuthError {
            refusal.log(to: context.logger)
            return .sendBrowser(to: returnAddress.location(refusal: refusal))
        }
    }

    private func proceed(
        _ request: AuthorizationRequest, _ form: Form, _ http: Request, consent: Consent
    ) async throws -> Response {
        let session = try await sessions.of(http, pages.site).flatMap { session in
            // A session that a merchant's token bought is no sign-in for another merchant's client: else any merchant
            // could become its users elsewhere.
            session.isGood(for: request.returnAddress.client) ? session : nil
        }
        let subject = session.map { Subject(account: $0.account, signedInAt: $0.signedInAt) }
        switch request.next(for: subject, consented: consent == .given, at: clock.now) {
        case .signIn: return signIn(request, form, http)
        case .refuse(let code):
            throw OAuthError(code, code.rawValue, "The person would have to be asked, and prompt=none forbids it.")
        case .consent where consent == .denied:
            throw OAuthError(.accessDenied, "consent_denied", "The person did not allow it.")
        case .consent: return try await askConsent(request, form, http)
        case .respond:
            // A form that was answered "deny" is never an approval, whatever the client is.
            guard consent != .denied, let session, let subject else {
                throw OAuthError(.accessDenied, "consent_denied", "The person did not allow it.")
            }
            let code = try await codes.issue(request, subject: subject, session: session.id.text, at: clock.now)
            return .sendBrowser(to: request.returnAddress.location(code: code))
        }
    }

    private func signIn(_ request: AuthorizationRequest, _ form: Form, _ http: Request) -> Response {
        let issued = pages.forms.issue(http)
        let back = Self.path + "?" + form.pairs.compactMap(Self.afterSignIn).encoded
        let page = LoginPage(
            action: "/login", formToken: issued.token, continueTo: back, email: request.loginHint ?? "",
            message: nil, clientName: request.returnAddress.client.name)
        return .page(pages.templates.login(page), cookies: [issued.setCookie], formsLeaveSite: true)
    }

    /// The new sign-in is what `prompt` asked for: the way back does not ask again. Nor does a `max_age` that the way
    /// back itself could outlast: it gets a minute.
    private static func afterSignIn(_ pair: Form.Pair) -> Form.Pair? {
        if pair.name == "max_age", let seconds = Int64(pair.value) { return (pair.name, String(max(seconds, 60))) }
        guard pair.name != "max_age" || pair.value != "0" else { return nil }
        guard pair.name == "prompt" else { return pair }
        let rest = pair.value.split(separator: " ").filter { $0 != "login" && $0 != "select_account" }
        return rest.isEmpty ? nil : (pair.name, rest.joined(separator: " "))
    }

    private func askConsent(_ request: AuthorizationRequest, _ form: Form, _ http: Request) async throws -> Response {
        let issued = pages.forms.issue(http)
        let client = request.returnAddress.client
        var merchantName = ""
        if let merchant = client.merchant { merchantName = try await merchants.find(merchant)?.name ?? "" }
        let page = ConsentPage(
            clientName: client.name, merchantName: merchantName,
            scopes: request.scope.tokens.map { ConsentPage.Scope(name: $0, description: Self.describe($0)) },
            action: Self.consentPath, formToken: issued.token,
            fields: [HiddenField(name: "request", value: form.pairs.encoded)])
        return .page(pages.templates.consent(page), cookies: [issued.setCookie], formsLeaveSite: true)
    }

    private static func describe(_ scope: String) -> String {
        switch scope {
        case "openid": "Know that it is you"
        case "profile": "See your name and profile"
        case "email": "See your e-mail address"
        case "phone": "See your phone number"
        case "address": "See your address"
        case "offline_access": "Act for you while you are away"
        default: "Use “\(scope)”"
        }
    }
}

extension Session {
    fileprivate func isGood(for client: Client) -> Bool {
        switch origin {
        case .signIn: true
        case .bought(let merchant): Merchant.same(merchant.map { Merchant.ID($0) }, client.merchant)
        }
    }
}
