import Authentication
public import Directory
public import Federation
package import HTTP
public import OAuth
public import Pages
package import Storage
package import Values

/// What every endpoint for users needs to make a page.
public struct PageRenderer: Sendable {
    package let templates: Templates
    package let site: Site
    package let forms: FormGuard
    package let clients: Clients
    package let merchants: Merchants
    package let issuers: TrustedIssuers
    package let interactions: Interactions
    package let address: ClientAddress
    let log: RequestLog

    public init(
        templates: Templates, site: Site, forms: FormGuard, clients: Clients, merchants: Merchants,
        issuers: TrustedIssuers, interactions: Interactions, address: ClientAddress, log: RequestLog
    ) {
        self.templates = templates
        self.site = site
        self.forms = forms
        self.clients = clients
        self.merchants = merchants
        self.issuers = issuers
        self.interactions = interactions
        self.address = address
        self.log = log
    }

    /// A page for users, with the headers of `PageHeaders`.
    /// - Parameters: `formsLeaveSite`: a form's response may redirect to an app's redirect URI. `script`: the page runs
    ///   our script, and no other. `refusal`: what the page refuses.
    package func page(
        _ html: String, _ visit: PageContext, status: Status = .ok, cookies: [String?] = [],
        formsLeaveSite: Bool = false, script: Bool = false, refusal: PageRefusal? = nil
    ) -> Response {
        var headers = PageHeaders(visit: visit, formsLeaveSite: formsLeaveSite, script: script).fields
        for case let cookie? in cookies { headers.append(Field(name: .setCookie, value: cookie)) }
        let response = Response(status: status, headers: headers, body: .text(html))
        return refusal.map(response.because(of:)) ?? response
    }

    /// A page with a single message.
    ///
    /// - Parameters: `form` leads on to an app, in place of a link. `registration` registers an address, in development
    ///   mode.
    package func message(
        _ topic: MessagePage.Topic, _ visit: PageContext, values: [String: String] = [:], form: FormPostPage? = nil,
        registration: FormPostPage? = nil, detail: String? = nil, status: Status = .badRequest, cookies: [String?] = []
    ) -> Response {
        // What was done needs no support.
        let reference = status.code < 400 ? nil : visit.reference
        let page = MessagePage(
            topic: topic, values: values, form: form, registration: registration, detail: detail, reference: reference)
        let response = self.page(
            templates.message(page, in: visit.frame), visit.framable, status: status, cookies: cookies,
            formsLeaveSite: form != nil)
        return status.code < 400 ? response : response.because(topic.reason)
    }

    /// The response to a form that did not come from our page in this browser.
    package func foreignForm(_ request: Request, _ visit: PageContext) -> Response {
        guard !forms.isReachedByHTTP(request) else {
            return message(.reachedByHTTP, visit, detail: "issuer: \(site.issuer)", status: .forbidden)
        }
        return withoutCookie(request, visit, else: message(.foreignForm, visit, status: .forbidden))
    }
}

extension Response {
    /// The same, and says how long to wait before the next attempt.
    package func asking(toWait wait: Duration) -> Response {
        var response = self
        response.headers[.retryAfter] = String(wait.wholeSeconds)
        return response
    }

    /// Redirects the browser to `location`, which must be a registered redirect URI or a path of ours. Caches never
    /// keep it, because it can carry a code.
    package static func sendBrowser(
        to location: String, status: Status = .found, cookies: [String?] = []
    ) -> Response {
        var headers = Fields()
        headers[.location] = location
        headers[.cacheControl] = "no-store"
        headers[.referrerPolicy] = "no-referrer"
        for case let cookie? in cookies { headers.append(Field(name: .setCookie, value: cookie)) }
        return Response(status: status, headers: headers)
    }
}

/// Steps that need the cookie that the previous step has set.
extension PageRenderer {
    /// Marks a request that follows right after a cookie was set.
    private static let check: Form.Pair = (name: "cookie_check", value: "1")

    /// The response to a request that lacks its browser's cookie. If the browser keeps no cookies, the page that says
    /// they are needed; otherwise `refusal`, because the cookie belongs to another browser, or was lost when this one
    /// was closed.
    ///
    /// A form of ours is posted by a browser that has just been given a cookie: if it sends none, it keeps none. A URL
    /// may have come from another browser, so this one is given a cookie first, and asked to come back.
    package func withoutCookie(
        _ request: Request, _ visit: PageContext, else refusal: @autoclosure () -> Response
    ) -> Response {
        guard !request.hasCookie(of: site) else { return refusal() }
        if request.method == .post {
            return forms.isSameOrigin(request) ? cookiesNeeded(visit) : refusal()
        }
        let query = Form.query(of: request.target.text)
        guard query[Self.check.name] == nil else { return cookiesNeeded(visit) }
        // An address that begins with two slashes would name another host (RFC 3986 §4.2).
        let path = "/" + request.target.path.drop { $0 == "/" }
        let address = "\(path)?\((query.pairs + [Self.check]).encoded)"
        return .sendBrowser(to: address, status: .seeOther, cookies: [forms.issue(request).setCookie])
    }

    private func cookiesNeeded(_ visit: PageContext) -> Response {
        message(.cookiesNeeded, visit, status: .forbidden)
    }
}

extension Request {
    /// Whether any cookie of ours came with it.
    fileprivate func hasCookie(of site: Site) -> Bool {
        [site.formCookie, site.sessionCookie, site.othersCookie, site.deviceCookie, site.toldCookie].contains {
            cookie($0, atMost: 4096) != nil
        }
    }
}

/// A waiting request, on the page that its user sees next.
package struct WaitingRequest: Sendable {
    package let interaction: Interaction
    /// The token and cookie for the forms of the page.
    package let form: FormGuard.Issued

    package init(interaction: Interaction, form: FormGuard.Issued) {
        self.interaction = interaction
        self.form = form
    }

    /// The id that pages carry.
    package var id: String { interaction.id.value }
    /// The link to continue as another user.
    package var switchTo: String { PagePath.authorize(interaction.id) + "&prompt=\(Prompt.selectAccount.rawValue)" }
}

extension WaitingRequest {
    /// Redirects to the page of ours at `path`, which continues the request.
    package func sendBrowser(to path: String) -> Response {
        .sendBrowser(to: "\(path)?continue=\(id)", status: .seeOther, cookies: [form.setCookie])
    }
}

extension PageRenderer {
    /// Makes the request in `form` wait for the user in the browser of `http`, and does `work` with it.
    /// - Parameters: `interaction` is the row in which it waits already, if it does. `isSignedIn` tells whether the
    ///   browser has a session: then it waits as long as after a step.
    package func waiting(
        _ interaction: Interaction?, _ form: Form, _ http: Request, isSignedIn: Bool = false,
        _ work: (WaitingRequest) async throws -> Response
    ) async throws -> Response {
        let issued = forms.issue(http)
        let browser = issued.browser.ofInteraction
        if let interaction {
            guard interaction.browser == nil else {
                return try await work(WaitingRequest(interaction: interaction, form: issued))
            }
            guard let bound = try await interactions.bind(interaction, to: browser) else { throw InteractionGone() }
            return try await work(WaitingRequest(interaction: bound, form: issued))
        }
        switch try await begin(form, in: browser, http, isSignedIn: isSignedIn) {
        case .begun(let interaction): return try await work(WaitingRequest(interaction: interaction, form: issued))
        case .wait(let wait): return try await tooManyAttempts(wait, http)
        }
    }

    /// Begins an interaction for the request in `form`, charged to the sender's address. `spend` then runs in the same
    /// transaction, spends what the request came in, and refuses by throwing.
    package func begin(
        _ form: Form, in browser: Fingerprint<Interaction.Browser>?, _ http: Request, isSignedIn: Bool = false,
        spend: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> Interactions.Beginning {
        let address = address.of(http)
        return try await interactions.begin(
            form.pairs.encoded, of: Client.ID(form[.clientID] ?? ""), in: browser,
            lifetime: isSignedIn ? Interaction.lifetime : Interaction.untouchedLifetime
        ) { db, now in
            if let wait = try InteractionThrottle.charge(from: address, at: now, in: db) { return wait }
            try spend(db)
            return nil
        }
    }

    /// A value that differs for each sign-in in this browser, even if a session keeps its id.
    package func signInMark(_ http: Request) -> Fingerprint<Session> {
        Fingerprint(of: http.cookie(site.sessionCookie) ?? "")
    }

    package func tooManyAttempts(_ wait: Duration, _ http: Request) async throws -> Response {
        message(.tooManyAttempts, try await visit(http), status: .tooManyRequests).asking(toWait: wait)
    }

    /// The response when the page's request does not wait here: it says to begin again in the app.
    package func gone(_ http: Request) -> Response {
        let language = Language.preferred(
            uiLocales: Form.query(of: http.target.text)[.uiLocales], acceptLanguage: http.headers[.acceptLanguage])
        let visit = PageContext(language: language, reference: log.id(of: http))
        return withoutCookie(http, visit, else: message(.requestGone, visit, status: .gone))
    }
}
