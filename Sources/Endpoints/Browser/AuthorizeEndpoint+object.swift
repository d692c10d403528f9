import HTTPTypes
import Hummingbird
import OAuth
import OpenID
import Values

extension AuthorizeEndpoint {
    /// Takes a request object apart, once: the browser goes on with the parameters it held, which change from page to page.
    func takeApart(_ form: Form, _ http: Request, _ context: SpindleContext) async throws -> Response {
        let whole: Form
        do {
            guard let opened = try await opened(form) else {
                return try await pages.answering(form, http, context) { _, _ in throw OAuthError.noClient }
            }
            whole = opened
        } catch let refusal as OAuthError {
            return try await pages.answering(form, http, context) { _, _ in throw refusal }
        }
        guard whole.fitsOnward else { return try await pages.tooLongToContinue(http, context) }
        return .sendBrowser(to: whole.onward, status: .seeOther)
    }

    /// The request with its object's parameters over those beside it (Core §6.1). Nil when its client is unknown.
    private func opened(_ form: Form) async throws -> Form? {
        let parameters = try form.parameters
        guard let id = parameters[.clientID], let client = try await pages.clients.findLive(Client.ID(id)),
            let object = parameters[.request]
        else { return nil }
        let inside = try await requestObjects.parameters(of: object, from: client)
        if let beside = parameters[.responseType], let type = inside.first(where: { $0.name == "response_type" })?.value
        {
            guard beside == type else {
                throw OAuthError.requestObjectRefused(
                    "request_object_response_type", "its response_type is another than that beside it")
            }
        }
        let replaced = Set(inside.map(\.name) + [Parameter.request.rawValue])
        return Form(pairs: form.pairs.filter { !replaced.contains($0.name) } + inside)
    }
}
