import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Values

/// `POST /oauth/exchange`: a user's token buys a one-time code.
public struct ExchangeEndpoint: Endpoint {
    private let tokens: AccessTokens
    private let codes: ExchangeCodes
    private let expired: ExpiredTokens

    public init(tokens: AccessTokens, codes: ExchangeCodes, expired: ExpiredTokens) {
        self.tokens = tokens
        self.codes = codes
        self.expired = expired
    }

    public func add(to router: inout Routes) {
        router.post("/oauth/exchange", .exchangeToken, use: respond)
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        let parameters = try Form.read(request).parameters
        return try await expired.answer(request, context, .deletedToo, form: parameters) {
            let token = try await tokens.require(request, form: parameters)
            let (code, kind) = try await codes.issue(try ExchangeRequest(parameters), for: token)
            return .json(
                .members([
                    "code": .string(code.value),
                    "type": .string(kind.rawValue),
                    "expires_in": .integer(kind.lifetime.seconds),
                ]))
        }
    }
}

/// `POST /oauth/ro`: redeems a mailed code for SPiD's apps. Like `/oauth/token`, for one grant, with errors in another
/// format.
public struct PasswordlessTokenEndpoint: Endpoint {
    private let issuance: TokenIssuance
    private let address: ClientAddress

    public init(issuance: TokenIssuance, address: ClientAddress) {
        self.issuance = issuance
        self.address = address
    }

    public func add(to router: inout Routes) {
        router.post("/oauth/ro", .redeemMailedCode, use: respond)
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        do {
            let form = try Form.read(request)
            context.presumedClient?.note(ClientCredentials.named(request, form))
            let parameters = try form.parameters
            let tokens = try await issuance.tokens(
                for: TokenRequest(
                    parameters: parameters, address: address.of(request),
                    userAgent: request.headers[.userAgent] ?? ""),
                from: try ClientCredentials.read(request, parameters))
            return .json(tokens.json)
        } catch let refusal as OAuthError {
            return refusal.nestedResponse(triedHeader: request.headers[.authorization] != nil)
        }
    }
}
