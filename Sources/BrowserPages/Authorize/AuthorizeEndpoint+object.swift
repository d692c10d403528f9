import Directory
import HTTP
import HTTPSupport
import OAuth
import OpenID
import Values

extension AuthorizeEndpoint {
    /// Whether the request is in a request object, by value or by reference.
    func holdsObject(_ form: Form) -> Bool {
        [Parameter.request, .requestURI].contains { form[$0.rawValue]?.isEmpty == false }
    }

    /// Opens a request object, once. The browser goes on with its parameters, which are stored here as signed.
    func takeApart(
        _ form: Form, _ http: Request, _ context: SpindleContext, isKnown: (Client) async throws -> Bool
    ) async throws -> Response {
        let whole: Form
        do {
            guard let opened = try await opened(form, http) else {
                return try await pages.answering(form, http, context) { _, _ in throw OAuthError.noClient }
            }
            whole = opened
        } catch let refusal as OAuthError {
            return try await pages.answering(form, http, context, isKnown: isKnown) { _, _ in throw refusal }
        }
        return try await carry(whole, by: AuthorizationEntrance(Self.path), http)
    }

    /// The object's parameters over those beside it (Core §6.1). Nil when the client is unknown.
    private func opened(_ form: Form, _ http: Request) async throws -> Form? {
        let parameters = try form.parameters
        guard let id = parameters[.clientID], let client = try await pages.clients.findLive(Client.ID(id)) else {
            return nil
        }
        let inside: [(name: String, value: String)]
        switch (parameters[.request], parameters[.requestURI]) {
        case (nil, nil): return nil
        case (let object?, nil): inside = try await requestObjects.parameters(of: object, from: client)
        case (nil, let address?):
            inside = try await requestObjects.parameters(at: address, from: client, for: pages.address.of(http))
        case (.some, .some): throw OAuthError.requestTwice
        }
        if let beside = parameters[.responseType], let type = inside.first(where: { $0.name == "response_type" })?.value
        {
            guard beside == type else {
                throw OAuthError.requestObjectRefused(
                    "request_object_response_type", "its response_type is another than that beside it")
            }
        }
        let replaced = Set(inside.map(\.name) + [Parameter.request, .requestURI].map(\.rawValue))
        return Form(pairs: form.pairs.filter { !replaced.contains($0.name) } + inside)
    }
}
