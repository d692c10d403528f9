public import JSON
public import Keys
public import OAuth
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
        guard rules.provider.map({ $0 == request.provider }) ?? true else {
            throw Self.elsewhereRefused("ditto_provider", "provider")
        }
        guard rules.database.map({ $0 == request.database }) ?? true else {
            throw Self.elsewhereRefused("ditto_database", "database")
        }
        let user = try await tokens.user(of: request.token, for: webhook, by: rules, at: now)
        // Ditto could read a lifetime of zero as unlimited.
        guard user.expiresAt - now >= .seconds(1) else { throw OAuthError.tokenRefused("expired_token") }
        guard rules.permissions.suits(user) else { throw Self.tooMuch }
        return .admitting(user, by: rules, at: now)
    }

    private static let tooMuch = OAuthError(
        .accessDenied, "ditto_answer_too_long",
        "The queries of the webhook's template come to more than 256 KiB with this user's attributes.")

    private static func elsewhereRefused(_ reason: String, _ what: String) -> OAuthError {
        OAuthError(.accessDenied, reason, "This webhook is for another \(what) than the request names.")
    }
}

/// A request of Ditto, in either of its forms: the old one with `appID`, version 1 with `databaseID`.
struct DittoRequest: Sendable {
    let provider: String
    /// The app or database that the user wants to access.
    let database: String
    /// The token that the app gave Ditto to pass on.
    let token: String

    init(_ body: [UInt8]) throws(OAuthError) {
        let json: JSON
        do {
            json = try JSON(parsing: body)
        } catch {
            throw Self.malformed("it must be JSON: \(error)".replacing("\"", with: "'"))
        }
        guard json.members != nil else { throw Self.malformed("it must be a JSON object") }
        provider = try Self.text("provider", json)
        token = try Self.text("token", json)
        switch (json["appID"], json["databaseID"]) {
        case (nil, nil): throw Self.malformed("databaseID or appID is missing")
        case (_?, nil): database = try Self.text("appID", json)
        case (nil, _?): database = try Self.text("databaseID", json)
        case (_?, _?): throw Self.malformed("it has both databaseID and appID")
        }
        guard json["version"].map({ $0 == "1" }) ?? true else { throw Self.malformed("version must be the text 1") }
    }

    private static func text(_ name: String, _ json: JSON) throws(OAuthError) -> String {
        guard let text = json[name]?.string, !text.isEmpty else { throw malformed("\(name) must be a text") }
        return text
    }

    private static func malformed(_ what: String) -> OAuthError {
        OAuthError(.invalidRequest, "ditto_request", "The body is not what Ditto sends: \(what).")
    }
}

/// The response to Ditto. Members whose names differ between its versions are sent under both.
public enum DittoAnswer: Sendable {
    case admitted(JSON)
    /// Ditto passes the error and its hint on, so that the app's developer can read them.
    case refused(OAuthError)

    /// Admits the user for the longest time of `rules`, limited to their token's life unless the rules allow more.
    static func admitting(_ user: DittoUser, by rules: DittoRules, at now: Timestamp) -> DittoAnswer {
        let rest = user.expiresAt - now
        let period = rules.outlivesToken ? rules.longest : min(rules.longest, rest)
        return .admitted(
            .members([
                "authenticated": true, "authenticate": true, "userID": .string(user.subject),
                "expirationSeconds": .integer(period.seconds),
                "permissions": rules.permissions.filled(for: user), "clientInfo": rules.constants.clientInfo,
                "userInfo": rules.constants.clientInfo, "identityServiceMetadata": rules.constants.metadata,
            ]))
    }

    public var json: JSON {
        switch self {
        case .admitted(let json): return json
        case .refused(let refusal):
            let info: JSON = .members([
                "error": .string(refusal.code.rawValue), "error_description": .string(refusal.hint),
            ])
            return .members(["authenticated": false, "authenticate": false, "clientInfo": info, "userInfo": info])
        }
    }
}
