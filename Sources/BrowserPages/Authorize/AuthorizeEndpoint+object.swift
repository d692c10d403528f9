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

    /// Opens a request object, and spends it. The browser continues with its parameters, which are stored here.
    func takeApart(
        _ form: Form, _ http: Request, _ context: SpindleContext, isKnown: (Client) async throws -> Bool
    ) async throws -> Response {
        func refuse(_ refusal: OAuthError) async throws -> Response {
            try await pages.answering(form, http, context, ofObject: refusal, isKnown: isKnown) { _, _ in
                throw refusal
            }
        }
        let found: (form: Form, object: RequestObjects.Opened)
        do {
            guard let opened = try await opened(form, http) else {
                return try await pages.answering(form, http, context) { _, _ in throw OAuthError.noClient }
            }
            found = opened
        } catch let refusal as OAuthError {
            return try await refuse(refusal)
        }
        return try await carry(
            found.form, by: AuthorizationEntrance(Self.path), http, spend: found.object.spend, refuse: refuse)
    }

    /// The object, and its parameters over those beside it (Core §6.1). Nil when the client is unknown.
    private func opened(_ form: Form, _ http: Request) async throws -> (form: Form, object: RequestObjects.Opened)? {
        let parameters = try form.parameters
        guard let id = parameters[.clientID], let client = try await pages.clients.findLive(Client.ID(id)) else {
            return nil
        }
        let object: RequestObjects.Opened
        switch (parameters[.request], parameters[.requestURI]) {
        case (nil, nil): return nil
        case (let text?, nil): object = try await requestObjects.open(text, from: client)
        case (nil, let address?):
            object = try await requestObjects.open(at: address, from: client, for: pages.address.of(http))
        case (.some, .some): throw OAuthError.requestTwice
        }
        let inside = object.parameters
        if let beside = parameters[.responseType], let type = inside.first(where: { $0.name == "response_type" })?.value
        {
            guard beside == type else {
                throw OAuthError.requestObjectRefused(
                    "request_object_response_type", "its response_type differs from the one beside it")
            }
        }
        let replaced = Set(inside.map(\.name) + [Parameter.request, .requestURI].map(\.rawValue))
        return (Form(pairs: form.pairs.filter { !replaced.contains($0.name) } + inside), object)
    }
}
