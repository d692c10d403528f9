import Values

/// A refusal: the code and hint for the client, the reason for the log and metrics. The two never mix.
public struct OAuthError: Error, Sendable {
    /// The `error` values of RFC 6749 §5.2 and §4.1.2.1, RFC 6750 §3.1, RFC 7591 §3.2.2, and our own where HTTP needs a
    /// name.
    public enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
        case invalidScope = "invalid_scope"
        case accessDenied = "access_denied"
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case interactionRequired = "interaction_required"
        case unmetAuthenticationRequirements = "unmet_authentication_requirements"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        case registrationNotSupported = "registration_not_supported"
        case invalidRequestObject = "invalid_request_object"
        case invalidRequestURI = "invalid_request_uri"
        case invalidTarget = "invalid_target"
        case invalidToken = "invalid_token"
        case invalidRedirectURI = "invalid_redirect_uri"
        case invalidClientMetadata = "invalid_client_metadata"
        case unapprovedSoftwareStatement = "unapproved_software_statement"
        case insufficientScope = "insufficient_scope"
        case notFound = "not_found"
        case requestTooLarge = "request_too_large"
        case tooManyRequests = "too_many_requests"
        case temporarilyUnavailable = "temporarily_unavailable"
        case serverError = "server_error"
    }

    /// What a refused grant says about its user. SPiD's clients get SPiD's names for these.
    public enum UserFault: Sendable, Equatable {
        case wrongCredentials
        case unverified
        /// An identity provider knows the user, but this server does not.
        case unknown
    }

    public let code: Code
    public let userFault: UserFault?
    /// What the client's developer can fix: `error_description`. ASCII without `"` and `\` (RFC 6749 §5.2).
    public let hint: String
    /// One word for the log and metrics.
    public let reason: String
    /// Details for the log. Never a secret.
    public let detail: String?
    /// How long to wait before trying again: `Retry-After`.
    public let retryAfter: Duration?

    public init(
        _ code: Code, _ reason: String, _ hint: String, detail: String? = nil, retryAfter: Duration? = nil,
        userFault: UserFault? = nil
    ) {
        self.code = code
        self.userFault = userFault
        self.reason = reason
        self.hint = hint
        self.detail = detail
        self.retryAfter = retryAfter
    }
}
