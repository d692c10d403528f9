import HTTP
import Logging
import OAuth
import Pages

extension PageRenderer {
    /// Reads the authorization request that `form` holds and does `work` with it.
    func authorizing(
        _ form: Form, _ http: Request, _ context: SpindleContext,
        _ work: (AuthorizationRequest) async throws -> Response
    ) async throws -> Response {
        try await answering(form, http, context) { parameters, address in
            try await work(
                try AuthorizationRequest(
                    parameters, returnAddress: address, issuer: site.issuer,
                    allowsUnsafeTokens: site.allowsUnsafeTokens))
        }
    }

    /// Finds out where the answer to the authorization request in `form` goes, and does `work` with it.
    ///
    /// A bad client or redirect URI gets a page; any other refusal, of the request or of the work, goes to the client.
    func answering(
        _ form: Form, _ http: Request, _ context: SpindleContext,
        _ work: (OAuth.Parameters, ReturnAddress) async throws -> Response
    ) async throws -> Response {
        let parameters: OAuth.Parameters
        let returnAddress: ReturnAddress
        do {
            guard form.fitsOnward else { throw OAuthError.tooLongToContinue }
            parameters = try form.parameters
            returnAddress = try await ReturnAddress(parameters, clients: clients)
        } catch let refusal as ReturnAddress.Refusal {
            context.logger.info("refused", metadata: ["reason": "\(refusal.reason)"])
            return refusal.page(self, try await visit(http, uiLocales: form["ui_locales"]))
        } catch let refusal as OAuthError {
            refusal.log(to: context.logger)
            return brokenRequest(try await visit(http), detail: refusal.hint, status: refusal.status)
        }
        do {
            return try await work(parameters, returnAddress)
        } catch let refusal as OAuthError {
            refusal.log(to: context.logger)
            return try await send(returnAddress.answer(refusal: refusal, issuer: site.issuer), for: returnAddress, http)
        }
    }

    /// The page of a request that cannot be read at all.
    func brokenRequest(_ visit: Visit, detail: String? = nil, status: Status = .badRequest) -> Response {
        message(.brokenRequest, visit, detail: detail, status: status)
    }

    /// The page of a request that no link could hold.
    func tooLongToContinue(_ http: Request, _ context: SpindleContext) async throws -> Response {
        let refusal = OAuthError.tooLongToContinue
        refusal.log(to: context.logger)
        return brokenRequest(try await visit(http), detail: refusal.hint, status: refusal.status)
    }

    /// Sends the browser to the client with `answer`: by a redirect, by a page whose form posts itself, or by one that tells it to another.
    func send(_ answer: AuthorizationAnswer, for address: ReturnAddress, _ http: Request) async throws -> Response {
        switch answer {
        case .redirect(let location): return .sendBrowser(to: location)
        case .form(let action, let fields):
            let visit = try await visit(http, client: address.client)
            let form = FormPostPage(
                action: action, fields: fields.map { HiddenField(name: $0.name, value: $0.value) })
            return page(templates.formPost(form, in: visit.frame), visit, formsLeaveSite: true, script: true)
        case .message(let origin, let fields):
            // Whom it tells may have it in a frame, as a silent request does; its answer is for that origin anyway.
            let visit = try await visit(http, client: address.client).framed(by: origin)
            let message = WebMessagePage(
                origin: origin, fields: fields.map { HiddenField(name: $0.name, value: $0.value) })
            return page(templates.webMessage(message, in: visit.frame), visit, script: true)
        }
    }
}

extension OAuthError {
    fileprivate static let tooLongToContinue = OAuthError(
        .invalidRequest, "request_too_long", "The authorization request is longer than 8 KiB: shorten state or scope.")
}
