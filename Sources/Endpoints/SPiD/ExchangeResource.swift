import HTTPTypes
import JOSE
public import OAuth
import Values

/// `POST /api/2/oauth/exchange`: a person's token buys a one-time code, in SPiD's container and its words.
public struct ExchangeResource: SPiDResource {
    private let codes: ExchangeCodes

    public init(codes: ExchangeCodes) { self.codes = codes }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .post, "oauth/exchange", name: "Exchange", controller: "Authorization.exchange", caller: .person,
                optional: ["clientId", "client_id", "type", "redirectUri", "redirect_uri"], answer: exchange)
        ]
    }

    @Sendable private func exchange(_ call: SPiDCall) async throws -> SPiDAnswer {
        let parameters = try Parameters(call.parameters.map { (name: $0.key, value: $0.value) })
        let (code, kind) = try await codes.issue(try ExchangeRequest(parameters), for: call.asking.token)
        return .element(
            "Authorization",
            .members([
                "code": .string(code.value), "type": .string(kind.rawValue),
                "expires_in": .integer(kind.lifetime.seconds),
            ]))
    }
}
