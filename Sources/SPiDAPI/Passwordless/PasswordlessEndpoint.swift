import Authentication
import Directory
import HTTP
public import HTTPSupport
import JSON
import OAuth

/// `POST /passwordless/start` and `/passwordless/resend`: SPiD's apps ask for a code by mail or by text message, which
/// `/oauth/ro` takes.
public struct PasswordlessEndpoint: Endpoint {
    private let codes: PasswordlessCodes
    private let clients: Clients
    private let authenticator: ClientAuthenticator
    private let address: ClientAddress

    init(codes: PasswordlessCodes, clients: Clients, authenticator: ClientAuthenticator, address: ClientAddress) {
        self.codes = codes
        self.clients = clients
        self.authenticator = authenticator
        self.address = address
    }

    public func add(to router: inout Routes) {
        router.post("/passwordless/start", .startPasswordless) { request, context in
            try await respond(request, context) { form, _ in try codes.first { form[$0] } }
        }
        router.post("/passwordless/resend", .resendPasswordless) { request, context in
            try await respond(request, context) { form, client in
                try await codes.next(after: form["passwordless_token"], locale: form["locale"], at: client)
            }
        }
    }

    /// Sends the code that `find` reads from the form.
    private func respond(
        _ request: Request, _ context: SpindleContext,
        find: (Form, Client) async throws -> PasswordlessCodes.Wanted
    ) async throws -> Response {
        do {
            let form = try Form.read(request)
            context.presumedClient?.note(ClientCredentials.named(request, form))
            let (client, isProven) = try await client(request, form)
            let token = try await codes.send(
                try await find(form, client), for: client, request, from: address.of(request), isProven: isProven)
            return .json(.members(["passwordless_token": .string(token.text)]))
        } catch let refusal as OAuthError {
            return refusal.nestedResponse(triedHeader: request.headers[.authorization] != nil)
        }
    }

    /// The client of the request. One of SPiD's SDKs sends no secret here, only when it redeems the code. A token for
    /// another client's `client_id` is worth nothing without the code.
    private func client(_ request: Request, _ form: Form) async throws -> (Client, isProven: Bool) {
        let credentials = try ClientCredentials.read(request, try form.parameters)
        let (client, isProven): (Client, Bool)
        if case .none = credentials.proof {
            guard let found = try await clients.findLive(credentials.id) else {
                throw OAuthError.unknownClient(credentials.id)
            }
            (client, isProven) = (found, false)
        } else {
            client = try await authenticator.authenticate(credentials)
            isProven = client.may(.answerForItself)
        }
        // Otherwise any web page could have its visitors ask for codes for others, each from another address.
        guard isProven || !request.isByWebPage else { throw OAuthError.askedByPage }
        try client.requireCodesByMail()
        return (client, isProven)
    }
}

extension Client {
    /// Refuses clients that may not send codes to users.
    func requireCodesByMail() throws(OAuthError) {
        guard may(.mailCodes), may(.passwordless) else { throw .grantNotAllowed(id) }
    }
}

extension OAuthError {
    fileprivate static let askedByPage = OAuthError(
        .invalidRequest, "passwordless_by_page", "Only apps may ask for codes, or pages with a backend's secret.")
}
