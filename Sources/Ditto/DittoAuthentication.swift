public import Keys
import OAuth
import Storage
public import Values

/// Answers Ditto's authentication requests. Spends nothing: a request repeated in time gets the same answer as long as
/// its token lives.
public struct DittoAuthentication: Sendable {
    private let seal: Seal
    private let tokens: DittoTokens
    private let clock: any WallClock

    public init(seal: Seal, tokens: DittoTokens, clock: any WallClock) {
        self.seal = seal
        self.tokens = tokens
        self.clock = clock
    }

    /// The answer to `body`, which came with `signatures`, or the refusal as an `OAuthError`: `invalidRequest` for a
    /// body that Ditto does not send, `invalidClient` for a signature that is not Ditto's, any other for a user who is
    /// not admitted.
    public func answer(
        to body: [UInt8], signatures: [String], at webhook: DittoWebhook
    ) async throws -> DittoAnswer {
        let now = clock.now
        // First, and on the bytes as received: a sender other than Ditto learns nothing about the request.
        if let sealed = webhook.sealedSecrets {
            let secrets = try DittoSecrets(opening: sealed, of: webhook.id, with: seal)
            try DittoSignature(signatures).verify(body, with: secrets, at: now)
        }
        let request = try DittoRequest(body)
        let rules = try webhook.rules
        guard rules.provider.map({ $0 == request.provider }) ?? true else { throw Self.elsewhere("provider") }
        guard rules.database.map({ $0 == request.database }) ?? true else { throw Self.elsewhere("database") }
        let person = try await tokens.person(of: request.token, for: webhook, by: rules, at: now)
        // Ditto could read a lifetime of zero as unlimited.
        guard person.expiresAt - now >= .seconds(1) else { throw OAuthError.tokenRefused("expired_token") }
        guard rules.permissions.suits(person) else { throw Self.tooMuch }
        return .admitting(person, by: rules, at: now)
    }

    private static let tooMuch = OAuthError(
        .accessDenied, "ditto_answer_too_long",
        "The queries of the webhook's template come to more than 256 KiB with this user's attributes.")

    private static func elsewhere(_ what: String) -> OAuthError {
        OAuthError(.accessDenied, "ditto_\(what)", "This webhook is for another \(what) than the request names.")
    }
}
