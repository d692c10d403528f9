import OAuth

/// What an authorization request can be answered with when a developer wants to see how the app takes it.
enum DevelopmentError {
    /// The first is what a person's "no" is. The others are of RFC 6749 §4.1.2.1 and OpenID Connect Core §3.1.2.6.
    static let all: [OAuthError.Code] = [
        .accessDenied, .invalidRequest, .unauthorizedClient, .invalidScope, .serverError, .temporarilyUnavailable,
        .loginRequired, .interactionRequired, .consentRequired,
    ]

    /// Nil for what is not among them.
    static func named(_ text: String) -> OAuthError? {
        all.first { $0.rawValue == text }.map { code in
            // In the words of Sync Gateway's own test provider, which apps may have been tried with.
            let hint = code == .invalidRequest ? "User failed authentication" : "Chosen at the development sign-in."
            return OAuthError(code, "development_error", hint)
        }
    }
}
