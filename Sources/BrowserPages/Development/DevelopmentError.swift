import OAuth

/// The errors that a developer can choose as the answer to an authorization request, to test how the app handles them.
enum DevelopmentError {
    /// The first is a user's refusal. The others are from RFC 6749 §4.1.2.1 and OpenID Connect Core §3.1.2.6.
    static let all: [OAuthError.Code] = [
        .accessDenied, .invalidRequest, .unauthorizedClient, .invalidScope, .serverError, .temporarilyUnavailable,
        .loginRequired, .interactionRequired, .consentRequired,
    ]

    /// Nil for an error that is not among them.
    static func named(_ text: String) -> OAuthError? {
        all.first { $0.rawValue == text }.map { code in
            // The text of Sync Gateway's own test provider, which apps may have been tested with.
            let hint = code == .invalidRequest ? "User failed authentication" : "Chosen at the development sign-in."
            return OAuthError(code, "development_error", hint)
        }
    }
}
