import Authentication
package import Directory
package import HTTP
package import Logging
package import OAuth
import Pages
package import Storage
package import Values

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
    package func gone(_ http: Request, _ logger: Logger) -> Response {
        logger.info("refused", metadata: ["reason": "interaction_gone"])
        let language = Language.preferred(
            uiLocales: Form.query(of: http.target.text)[.uiLocales], acceptLanguage: http.headers[.acceptLanguage])
        let visit = PageContext(language: language)
        return withoutCookie(http, visit, else: message(.requestGone, visit, status: .gone))
    }
}
