import OAuth

/// How an issuer's token is presented. Each of the two grants has its own error for a refusal.
enum AssertionUse: Sendable {
    /// RFC 7523 §3.1: `invalid_grant`.
    case assertion
    /// RFC 8693 §2.2.2: `invalid_request`.
    case subjectToken

    var parameter: Parameter {
        switch self {
        case .assertion: .assertion
        case .subjectToken: .subjectToken
        }
    }

    func refusal(_ refusal: OAuthError) -> OAuthError {
        guard self == .subjectToken, refusal.code == .invalidGrant else { return refusal }
        return OAuthError(
            .invalidRequest, refusal.reason,
            refusal.hint.replacing("The assertion was refused:", with: "The subject_token was refused:"),
            detail: refusal.detail, retryAfter: refusal.retryAfter, userFault: refusal.userFault)
    }
}
