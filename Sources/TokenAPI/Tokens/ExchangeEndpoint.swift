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
        router.post("/oauth/exchange", use: respond)
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
