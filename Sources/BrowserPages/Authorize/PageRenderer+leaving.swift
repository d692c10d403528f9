import Directory
import HTTP
import HTTPSupport
import OAuth
import Pages

extension PageRenderer {
    /// Sends `refusal` of the authorization request in `form` to its client: at once, or by a page that asks first.
    func send(
        _ refusal: OAuthError, to address: ReturnAddress, _ form: Form, _ http: Request,
        isKnown: (Client) async throws -> Bool
    ) async throws -> Response {
        let client = address.client
        let answer = address.answer(refusal: refusal, issuer: site.issuer)
        guard answer.leaves, try await asksBeforeLeaving(for: client, refusal, form, http, isKnown: isKnown) else {
            return try await send(answer, for: address, http)
        }
        let visit = try await visit(http, client: client, uiLocales: form[.uiLocales])
        return leaving(
            by: answer, visit, detail: "\(refusal.code.rawValue): \(refusal.hint)", status: .badRequest)
    }

    /// Whether the user is asked before the browser goes to `client` with `refusal`. A self-registered client may
    /// imitate this server, and anyone can make a link that is refused (RFC 9700 §4.11.2).
    ///
    /// A user who has seen a page about the client is not asked. Nor is silent authentication delayed, which that
    /// section exempts because its client waits for the error (OpenID Connect Core §3.1.2.6): when a valid request
    /// needs the user, or when the browser does not show the answer.
    private func asksBeforeLeaving(
        for client: Client, _ refusal: OAuthError, _ form: Form, _ http: Request,
        isKnown: (Client) async throws -> Bool
    ) async throws -> Bool {
        guard !client.may(.sendBrowsersOn), !refusal.code.needsUser, !http.isSilentInFrame(form) else { return false }
        return try await !isKnown(client)
    }

    /// The page in place of a redirect, or a form, to a self-registered client. It leads there without scripts.
    func leaving(
        by answer: AuthorizationAnswer, _ visit: PageContext, detail: String? = nil, status: Status = .ok,
        cookies: [String?] = []
    ) -> Response {
        var values = ["name": visit.client?.name ?? ""]
        var form: FormPostPage?
        switch answer {
        case .redirect(let location): values["continueTo"] = location
        case .form(let action, let fields): form = FormPostPage(action: action, fields)
        // The receiving page has ours in a frame, or opened it: the browser stays.
        case .message: break
        }
        return message(.leaving, visit, values: values, form: form, detail: detail, status: status, cookies: cookies)
    }
}

extension FormPostPage {
    init(action: String, _ fields: [AuthorizationAnswer.Field]) {
        self.init(action: action, fields: fields.map { HiddenField(name: $0.name, value: $0.value) })
    }
}

extension AuthorizationAnswer {
    /// Whether the browser goes to another site with it.
    fileprivate var leaves: Bool { if case .message = self { false } else { true } }
}

extension Request {
    /// Whether a page makes the request without showing it, as in a frame. A `document` is shown to the user.
    fileprivate func isSilentInFrame(_ form: Form) -> Bool {
        form[.prompt] == Prompt.none.rawValue && headers[.secFetchDest] != "document"
    }
}
