import Authentication
import Directory
import HTTP
import HTTPSupport
import Logging
import OAuth
import Pages

extension PageRenderer {
    /// Reads the authorization request in `form` and runs `work` with it.
    func authorizing(
        _ form: Form, _ http: Request, _ context: SpindleContext,
        isKnown: (Client) async throws -> Bool = { _ in false },
        _ work: (AuthorizationRequest) async throws -> Response
    ) async throws -> Response {
        try await answering(form, http, context, isKnown: isKnown) { parameters, address in
            try await work(
                try AuthorizationRequest(
                    parameters, returnAddress: address, issuer: site.issuer,
                    allowsUnsafeTokens: site.allowsUnsafeTokens))
        }
    }

    /// Finds out where the answer to the authorization request in `form` goes, and runs `work` with it.
    ///
    /// A bad client or redirect URI gets a page; any other refusal, of the request or of `work`, goes to the client.
    /// - Parameters: `isKnown` tells whether the user has seen a page about a client (`asksBeforeLeaving`). `fault` is
    ///   what is wrong with a request object that may have contained the redirect URI; the page says so if the request
    ///   has none beside it.
    func answering(
        _ form: Form, _ http: Request, _ context: SpindleContext, ofObject fault: OAuthError? = nil,
        isKnown: (Client) async throws -> Bool = { _ in false },
        _ work: (OAuth.Parameters, ReturnAddress) async throws -> Response
    ) async throws -> Response {
        let parameters: OAuth.Parameters
        let returnAddress: ReturnAddress
        do {
            parameters = try form.parameters
            returnAddress = try await ReturnAddress(parameters, clients: clients, besides: site.origin)
            http.note(returnAddress.client.id)
            if returnAddress.hasUnusableCancelURI {
                context.logger.info(
                    "left out the way to cancel",
                    metadata: ["reason": "unregistered_cancel_uri"])
            }
        } catch let refusal as ReturnAddress.Refusal {
            if case .noRedirectURI = refusal, let fault {
                return brokenRequest(try await visit(http, uiLocales: form["ui_locales"]), detail: fault.hint)
                    .because(of: fault)
            }
            return refusal.page(self, try await visit(http, uiLocales: form["ui_locales"]), http)
                .because(refusal.reason)
        } catch let refusal as OAuthError {
            return brokenRequest(try await visit(http), detail: refusal.hint, status: refusal.status)
                .because(of: refusal)
        }
        do {
            return try await work(parameters, returnAddress)
        } catch let refusal as OAuthError {
            return try await send(refusal, to: returnAddress, form, http, isKnown: isKnown).because(of: refusal)
        }
    }

    /// Leads to SPiD's `path` for the authorization request in `query`.
    func entering(_ path: String, _ query: Form, _ http: Request) async throws -> Response {
        guard let address = query.address(at: path) else {
            return brokenRequest(
                try await visit(http), detail: "The authorization request is longer than 8000 bytes.",
                status: .uriTooLong)
        }
        return .sendBrowser(to: address, status: .seeOther)
    }

    /// The page for a request that cannot be read at all.
    func brokenRequest(_ visit: PageContext, detail: String? = nil, status: Status = .badRequest) -> Response {
        message(.brokenRequest, visit, detail: detail, status: status)
    }

    /// Sends `answer` to the client: by a redirect, by a form that posts itself, or by a message to its page.
    func send(_ answer: AuthorizationAnswer, for address: ReturnAddress, _ http: Request) async throws -> Response {
        switch answer {
        case .redirect(let location): return .sendBrowser(to: location)
        case .form(let action, let fields):
            let visit = try await visit(http, client: address.client)
            let form = FormPostPage(action: action, fields)
            return page(templates.formPost(form, in: visit.frame), visit.framable, formsLeaveSite: true, script: true)
        case .message(let origin, let fields):
            // The receiving page may frame this one, as a silent request does. The answer is only for its origin.
            let visit = try await visit(http, client: address.client).framed(by: origin)
            let message = WebMessagePage(
                origin: origin, fields: fields.map { HiddenField(name: $0.name, value: $0.value) })
            return page(templates.webMessage(message, in: visit.frame), visit, script: true)
        }
    }
}

extension ReturnAddress.Refusal {
    var reason: String {
        switch self {
        case .noClient: "no_client"
        case .unknownClient: "unknown_client"
        case .noRedirectURI: "no_redirect_uri"
        case .unregisteredRedirectURI: "unregistered_redirect_uri"
        case .unregisteredCancelURI: "unregistered_cancel_uri"
        }
    }

    /// The page for a bad client or redirect URI: it says which of the two, and what to fix. Never a redirect.
    func page(_ pages: PageRenderer, _ visit: PageContext, _ http: Request) -> Response {
        guard case .unregisteredRedirectURI(let client, let text) = self, pages.development != nil else {
            return pages.message(topic, visit, detail: detail)
        }
        let form = pages.forms.issue(http)
        return pages.message(
            topic, visit, registration: pages.registration(of: text, at: client, for: http, form), detail: detail,
            cookies: [form.setCookie])
    }

    /// Its texts are in each of the `Sources/Pages/Texts`: `message.unknownClient.title`, `.text` and `.hint`, and
    /// so on for `noClient`, `noRedirectURI`, `unregisteredRedirectURI` and `unregisteredCancelURI`.
    private var topic: MessagePage.Topic {
        switch self {
        case .noClient: .noClient
        case .unknownClient: .unknownClient
        case .noRedirectURI: .noRedirectURI
        case .unregisteredRedirectURI: .unregisteredRedirectURI
        case .unregisteredCancelURI: .unregisteredCancelURI
        }
    }

    /// For the app's developer: the values as they arrived, and the likeliest mistake.
    private var detail: String? {
        switch self {
        case .noClient: nil
        case .unknownClient(let id): "client_id: \(id.prefix(100))"
        case .noRedirectURI(let client): "client_id: \(client.id)"
        case .unregisteredRedirectURI(let client, let text): Self.detail(client, .redirectURI, text)
        case .unregisteredCancelURI(let client, let text): Self.detail(client, .cancelRedirectURI, text)
        }
    }

    private static func detail(_ client: Client, _ parameter: Parameter, _ text: String) -> String {
        let values = "client_id: \(client.id), \(parameter.rawValue): \(text.prefix(200))"
        guard let miss = RedirectURIMismatch(text, among: client.redirectURIs) else { return values }
        return values + ". It differs from a registered address only in: \(miss.rawValue)."
    }
}

extension PageRenderer {
    /// Shows the user of `session` which app `request` is from, before they continue.
    /// - Parameter isFirst: whether the merchant is new to the user; otherwise any app on the device could be asking.
    func introduce(
        _ request: AuthorizationRequest, _ waiting: WaitingRequest, of session: Session, isFirst: Bool, _ http: Request
    ) async throws -> Response {
        let client = request.returnAddress.client
        let visit = try await visit(http, client: client, uiLocales: waiting.interaction.form[.uiLocales])
        let page = IntroductionPage(
            clientName: client.name, merchantName: visit.frame.brand?.name, isFirst: isFirst,
            action: ConsentEndpoint.path, formToken: waiting.form.named(session.user).token, request: waiting.id,
            account: session.displayName, switchTo: waiting.switchTo)
        return self.page(
            templates.introduction(page, in: visit.frame), visit, cookies: [waiting.form.setCookie],
            formsLeaveSite: true)
    }
}
