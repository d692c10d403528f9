import Authentication
import Directory
import JSON
import OAuth
import Values

/// Checks Google's access tokens with Google.
struct GoogleTokens: Sendable {
    let tokens: ProviderInterface
    let userinfo: ProviderInterface

    /// What Google says about a token.
    struct Answer {
        let subject: String
        let claims: JSON
    }

    /// The subject and claims of `token`, if it was issued to one of `apps`.
    func answer(
        about token: Secret<ProviderAssertion.Token>, issuedTo apps: [String],
        for requester: ProviderInterface.Requester
    ) async throws(OAuthError) -> Answer {
        let answer = try await tokens.ask("/tokeninfo", ["access_token": token.value], by: requester)
        guard !answer.isRefusal else {
            guard answer.json["error"] != nil || answer.json["error_description"] != nil else {
                throw .providerUnavailable(.google, "refused without saying why")
            }
            throw .providerTokenInvalid(.google)
        }
        let claims = answer.json
        guard let audience = claims["aud"]?.string, let rest = Self.number(claims["expires_in"]) else {
            throw .providerUnavailable(.google, "sent an unexpected answer")
        }
        // A token issued to another app must not sign in a user here: neither one made for that app (aud) nor one that
        // it requested (azp).
        guard apps.holds(audience), claims["azp"].map({ apps.holds($0.string ?? "") }) ?? true else {
            throw .providerTokenOfAnotherApp(.google)
        }
        guard rest > 0 else { throw .providerTokenInvalid(.google) }
        guard let subject = ProviderInterface.subject(claims["sub"]) else { throw .providerTokenWithoutUser(.google) }
        return Answer(subject: subject, claims: claims)
    }

    /// The name and address, as far as the token may show them.
    func user(
        _ known: Answer, with token: Secret<ProviderAssertion.Token>, for requester: ProviderInterface.Requester
    ) async throws(OAuthError) -> ProviderUser {
        let answer = try await userinfo.ask("/userinfo", ["access_token": token.value], by: requester)
        // A token without the scope for it gives no name.
        let claims = answer.isRefusal ? known.claims : answer.json
        guard ProviderInterface.subject(claims["sub"]) == known.subject else {
            throw .providerUnavailable(.google, "answered about another user")
        }
        var user = ProviderUser()
        user.email = Self.email(claims)
        user.take("name", claims["name"])
        user.take("given_name", claims["given_name"])
        user.take("family_name", claims["family_name"])
        return user
    }

    /// The address, if Google runs its mailbox.
    private static func email(_ claims: JSON) -> EmailAddress? {
        let isVerified = claims["email_verified"]?.bool ?? (claims["email_verified"] == "true")
        guard isVerified, let address = claims["email"]?.string.flatMap(EmailAddress.init) else { return nil }
        return IssuerUser.isGoogles(address, claims) ? address : nil
    }

    /// Google sends its numbers as strings.
    private static func number(_ json: JSON?) -> Int64? { json?.integer ?? json?.string.flatMap { Int64($0) } }
}
