import Values

/// A refusal: the code and hint for the client, the reason for the log and metrics, never the other way round.
public struct OAuthError: Error, Sendable {
    /// The `error` values of RFC 6749 §5.2 and §4.1.2.1, RFC 6750 §3.1, RFC 7591 §3.2.2, and those of ours that HTTP needs a name for.
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

    /// What a refused grant says of its person; SPiD's clients are told by names of their own.
    public enum UserFault: Sendable, Equatable {
        case wrongCredentials
        case unverified
        /// A provider knows them, and nobody here.
        case unknown
    }

    public let code: Code
    public let personFault: UserFault?
    /// What the developer on the other side can mend: `error_description`. ASCII without `"` and `\` (RFC 6749 §5.2).
    public let hint: String
    /// One word of the log and of metrics.
    public let reason: String
    /// What else the log should know. Never a secret.
    public let detail: String?
    /// When asking again makes sense: `Retry-After`.
    public let retryAfter: Duration?

    public init(
        _ code: Code, _ reason: String, _ hint: String, detail: String? = nil, retryAfter: Duration? = nil,
        personFault: UserFault? = nil
    ) {
        self.code = code
        self.personFault = personFault
        self.reason = reason
        self.hint = hint
        self.detail = detail
        self.retryAfter = retryAfter
    }
}
