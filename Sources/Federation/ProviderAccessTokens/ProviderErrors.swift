import Directory
import OAuth
import Values

// Every refusal of a provider's access token, in the order of the checks. The hint is for the app's developer.
extension OAuthError {
    // MARK: The client

    static func providerNotForClient(_ client: Client.ID, _ hint: String) -> OAuthError {
        OAuthError(.unauthorizedClient, "provider_not_for_client", hint, detail: "client=\(client)")
    }

    // MARK: The assertion

    static let providerAssertionMalformed = assertionRefused(
        "provider_assertion_malformed",
        "it does not have the three parts of a JWT, as SPiD's SDKs or RFC 7515 "
            + "write it.")
    static let providerAssertionAlgorithm = assertionRefused(
        "provider_assertion_algorithm", "its header must be alg HS256 and typ JWT.")
    static let providerAssertionSignature = assertionRefused(
        "provider_assertion_signature",
        "its signature is not made with the client's sign secret (which is not the client secret) over header, dot and "
            + "claims as they were sent.")
    static let providerAssertionTokenType = assertionRefused(
        "provider_assertion_token_type", "its token_type must be facebook or googleplus.")
    static let providerAssertionToken = assertionRefused(
        "provider_assertion_token", "its token_value must be an access token of at most 4096 bytes.")
    static let providerAssertionIssuer = assertionRefused(
        "provider_assertion_issuer",
        "its iss must be one of the app_names or audiences registered for the provider at this client's merchant.")
    static let providerAssertionPurpose = assertionRefused(
        "provider_assertion_purpose", "its sub must be authorization, registration or attach, as the URL requires.")
    static func providerAssertionAudience(_ ours: [String]?) -> OAuthError {
        assertionRefused(
            "provider_assertion_audience",
            "its aud must be \(ours?.joined(separator: " or ") ?? "the URL it is sent to").")
    }
    static let providerAssertionExpiry = assertionRefused(
        "provider_assertion_expiry", "its exp must be a date as in 2030-01-01 00:00:00+0000, or seconds since 1970.")
    static let providerAssertionExpired = assertionRefused(
        "provider_assertion_expired", "its exp has passed; sign in at the provider again.")
    static func providerUnknown(_ provider: Provider) -> OAuthError {
        assertionRefused(
            "provider_unknown",
            "this client's merchant has no issuer with provider \(provider.rawValue), or it is disabled.",
            "provider=\(provider.rawValue)")
    }

    // MARK: The provider's answer

    static func providerTokenInvalid(_ provider: Provider) -> OAuthError {
        OAuthError(
            .invalidGrant, "provider_token_invalid",
            "The provider says that its access token is invalid or expired. Sign in there again.",
            detail: "provider=\(provider.rawValue)")
    }
    static func providerTokenOfAnotherApp(_ provider: Provider) -> OAuthError {
        OAuthError(
            .invalidGrant, "provider_token_of_another_app",
            "The provider's access token was issued to an app that is not among the audiences registered for it.",
            detail: "provider=\(provider.rawValue)")
    }
    static func providerTokenWithoutUser(_ provider: Provider) -> OAuthError {
        OAuthError(
            .invalidGrant, "provider_token_without_user",
            "The provider does not say which user the access token is for: it must be a user's, with the scope "
                + "openid or "
                + "profile at Google.", detail: "provider=\(provider.rawValue)")
    }
    static let providerUserDisabled = OAuthError(
        .invalidGrant, "provider_user_disabled", "The user who is linked to this provider account is disabled.")

    /// Without an answer, no user is signed in, and none is reported as unknown.
    static func providerUnavailable(_ provider: Provider, _ cause: String) -> OAuthError {
        OAuthError(
            .temporarilyUnavailable, "provider_unavailable",
            "The provider could not be asked about its access token. Try again in a moment.",
            detail: "provider=\(provider.rawValue) cause=\(cause)", retryAfter: .seconds(10))
    }
}
