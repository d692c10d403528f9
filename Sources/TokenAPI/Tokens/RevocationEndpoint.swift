import HTTP
public import HTTPSupport
import JSON
public import OAuth

/// `POST /oauth/revoke` (RFC 7009), also with a JSON body, as Auth0's SDKs send it.
public struct RevocationEndpoint: Endpoint {
    private let revocation: Revocation

    public init(revocation: Revocation) { self.revocation = revocation }

    public func add(to router: inout Routes) {
        router.post("/oauth/revoke", .revokeToken, readers: .pagesOfClient, use: respond)
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request, orJSON: true)
        context.presumedClient?.note(ClientCredentials.named(request, form))
        let parameters = try form.parameters
        try await revocation.revoke(parameters, from: try ClientCredentials.read(request, parameters))
        return .json(.members([:]))
    }
}
