import HTTP
import JSON
public import OAuth
import SPiD
import Values

/// `POST /api/2/oauth/exchange`: exchanges a user's token for a one-time code, in SPiD's container and format.
public struct ExchangeResource: SPiDResource {
    private let codes: ExchangeCodes

    public init(codes: ExchangeCodes) { self.codes = codes }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .post, "oauth/exchange", name: "Exchange", controller: "Authorization.exchange", token: .user,
                optional: ["clientId", "client_id", "type", "redirectUri", "redirect_uri", "state"],
                answer: exchange)
        ]
    }

    @Sendable private func exchange(_ call: SPiDCall) async throws -> SPiDAnswer {
        let parameters = try Parameters(call.parameters.map { (name: $0.key, value: $0.value) })
        guard call["clientId"] ?? call["client_id"] != nil else {
            throw SPiDRefusal(.badRequest, "Required client ID missing", reason: "missing_client_id")
        }
        guard let type = call["type"].flatMap(ExchangeCode.Kind.init(rawValue:)) else {
            throw SPiDRefusal(.badRequest, "Request must contain a valid exchange type", reason: "malformed_type")
        }
        guard type == .code || call["redirectUri"] ?? call["redirect_uri"] != nil else {
            throw SPiDRefusal(.badRequest, "Type session: Missing redirect URI", reason: "missing_redirect_uri")
        }
        let (code, kind) = try await issue(try ExchangeRequest(parameters), to: call.caller.token)
        return .element(
            "Authorization",
            .members([
                "code": .string(code.value), "type": .string(kind.rawValue),
                "expires_in": .integer(kind.lifetime.seconds),
            ]))
    }

    /// The code, or SPiD's description of why there is none; ours, if SPiD has no equivalent refusal.
    private func issue(
        _ request: ExchangeRequest, to token: AccessToken
    ) async throws -> (code: Secret<ExchangeCode>, kind: ExchangeCode.Kind) {
        do {
            return try await codes.issue(request, for: token)
        } catch let error as OAuthError where error.reason == "foreign_merchant" {
            throw SPiDRefusal(
                .forbidden, "Provided client ID does not belong to the current merchant", reason: error.reason)
        } catch let error as OAuthError where error.reason == "receiver_without_redirect_uri" {
            throw SPiDRefusal(
                .badRequest, "Type code: Client to exchange token with is missing a default redirect",
                reason: error.reason)
        } catch let error as OAuthError where error.code == .accessDenied {
            throw SPiDRefusal(
                .forbidden, "Client is not authorized to access this API endpoint: \(error.hint)", reason: error.reason)
        }
    }
}
