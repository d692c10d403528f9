public import Ditto
import HTTP
public import HTTPSupport
import JSON
public import OAuth
public import OpenID

/// `POST /webhooks/ditto/{name}`: tells Ditto which user a token belongs to, and what that user may read and write.
///
/// Except for an unknown webhook, every response has the format that Ditto reads, whatever its status.
public struct DittoEndpoint: Endpoint {
    private let webhooks: DittoWebhooks
    private let authentication: DittoAuthentication

    public init(webhooks: DittoWebhooks, authentication: DittoAuthentication) {
        self.webhooks = webhooks
        self.authentication = authentication
    }

    public func add(to router: inout Routes) {
        router.post("/webhooks/ditto/{name}", .askWhomToAdmit, use: respond)
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        guard let webhook = try await webhooks.findLive(named: try context.parameters.require("name")) else {
            return Problem(status: .notFound, detail: "There is no such webhook.").response
                .because("unknown_webhook")
        }
        do {
            let answer = try await authentication.answer(
                to: try Form.bytes(of: request), signatures: request.headers[values: .dittoSignature],
                at: webhook)
            return .json(answer.json)
        } catch let refusal as OAuthError {
            return try Self.response(to: refusal, webhook).because(of: refusal)
        }
    }

    private static func response(to refusal: OAuthError, _ webhook: DittoWebhook) throws -> Response {
        let status: Status =
            switch refusal.code {
            case .invalidRequest, .requestTooLarge: .badRequest
            case .invalidClient: .unauthorized
            default: Status(code: try webhook.rules.refusalStatus, reasonPhrase: "")
            }
        var response = Response.json(DittoAnswer.refused(refusal).json, status: status)
        // RFC 9110 §15.5.2: a 401 must have a challenge.
        if status == .unauthorized {
            response.headers[.wwwAuthenticate] = refusal.code == .invalidClient ? "Ditto-Signature" : "Bearer"
        }
        return response
    }
}

extension FieldName {
    fileprivate static let dittoSignature = FieldName("ditto-signature") ?? .authorization
}

/// Ditto's webhook: which users a merchant admits.
public struct DittoFeature: Feature {
    public let endpoints: [any Endpoint]

    public init(_ context: ServerContext, _ oauth: OAuthServices, _ openID: OpenIDServices, webhooks: DittoWebhooks) {
        endpoints = [
            DittoEndpoint(
                webhooks: webhooks,
                authentication: DittoAuthentication(
                    seal: context.seal,
                    tokens: DittoTokens(
                        accessTokens: oauth.accessTokens, hints: openID.hints, clients: context.clients,
                        names: openID.names, users: context.users, families: context.families,
                        issuer: context.site.issuer),
                    clock: context.clock))
        ]
    }
}
