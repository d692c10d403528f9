import Cryptography
import JSON
import OAuth
import Values

/// Checks Facebook's access tokens with its Graph API.
struct FacebookTokens: Sendable {
    let interface: ProviderInterface

    /// One of a merchant's apps at Facebook.
    struct App {
        let id: String
        let secret: Secret<ProviderApp>
        let requester: ProviderInterface.Requester
        /// The access token of the app itself.
        var token: String { id + "|" + secret.value }
    }

    /// The Graph API's code for a bad parameter; here, the token belongs to another app than the requesting one.
    private static let codeOfAnotherApp: Int64 = 100

    /// The user of `token`: the number by which `app` knows them.
    func subject(
        of token: Secret<ProviderAssertion.Token>, issuedTo app: App, at now: Timestamp
    ) async throws(OAuthError) -> String {
        let answer = try await interface.ask(
            "/debug_token", ["input_token": token.value, "access_token": app.token], by: app.requester)
        if let error = answer.json["error"] {
            guard error["code"]?.integer != Self.codeOfAnotherApp else { throw .providerTokenOfAnotherApp(.facebook) }
            // Facebook refused the app's own token, which the operator has to fix. The user's token may be good.
            throw .providerUnavailable(.facebook, "refused our app, with code \(error["code"]?.integer ?? 0)")
        }
        guard !answer.isRefusal, let data = answer.json["data"], let isValid = data["is_valid"]?.bool else {
            throw .providerUnavailable(.facebook, "sent an unexpected answer")
        }
        guard data["error"]?["code"]?.integer != Self.codeOfAnotherApp else {
            throw .providerTokenOfAnotherApp(.facebook)
        }
        guard isValid else { throw .providerTokenInvalid(.facebook) }
        // Checked here too, not by Facebook alone: a token issued to another app must not sign in a user here.
        guard let id = data["app_id"]?.string ?? data["app_id"]?.integer.map(String.init), id == app.id else {
            throw .providerTokenOfAnotherApp(.facebook)
        }
        // 0 means that it does not expire.
        if let end = data["expires_at"]?.integer, end != 0, end <= now.seconds {
            throw .providerTokenInvalid(.facebook)
        }
        guard data["type"] == nil || data["type"] == "USER",
            let subject = ProviderInterface.subject(data["user_id"]), subject != "0"
        else { throw .providerTokenWithoutUser(.facebook) }
        return subject
    }

    /// The name only. Facebook does not say whether the address was verified, so it is not requested.
    func user(
        _ subject: String, with token: Secret<ProviderAssertion.Token>, issuedTo app: App
    ) async throws(OAuthError) -> ProviderUser {
        let answer = try await interface.ask(
            "/me",
            [
                "fields": "id,name,first_name,last_name", "access_token": token.value,
                "appsecret_proof": proof(of: token, app),
            ], by: app.requester)
        guard answer.json["error"] == nil, !answer.isRefusal else {
            throw .providerUnavailable(
                .facebook, "refused the user's name, with code \(answer.json["error"]?["code"]?.integer ?? 0)")
        }
        guard ProviderInterface.subject(answer.json["id"]) == subject else {
            throw .providerUnavailable(.facebook, "answered about another user")
        }
        var user = ProviderUser()
        user.take("name", answer.json["name"])
        user.take("given_name", answer.json["first_name"])
        user.take("family_name", answer.json["last_name"])
        return user
    }

    /// Proves that the app is asking: HMAC-SHA256 of the token under the app's secret, in hexadecimal.
    private func proof(of token: Secret<ProviderAssertion.Token>, _ app: App) -> String {
        Hexadecimal.encode(Digest.hmacSHA256(Array(token.value.utf8), key: Array(app.secret.value.utf8)))
    }
}
