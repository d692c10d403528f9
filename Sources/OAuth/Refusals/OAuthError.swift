public import Directory
import JSON
public import Values

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
    /// The user and the client whom it concerns, for the log.
    public private(set) var user: UserID?
    public private(set) var client: Client.ID?

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

    /// Does `work`, whose refusals are about `user`.
    static func about<Value>(
        _ user: UserID?, _ work: () throws(OAuthError) -> Value
    ) throws(OAuthError) -> Value {
        do throws(OAuthError) { return try work() } catch { throw error.of(user) }
    }

    /// The same, about `user` and `client`, as far as they are known.
    public func of(_ user: UserID?, at client: Client.ID? = nil) -> OAuthError {
        var refusal = self
        refusal.user = user ?? self.user
        refusal.client = client ?? self.client
        return refusal
    }
}

// Errors of OpenID Connect and its extensions at the authorization endpoint.
extension OAuthError {
    static func responseTypeNotAllowed(_ type: ResponseType, _ client: Client.ID) -> OAuthError {
        OAuthError(
            .unauthorizedClient, "response_type_not_allowed",
            "This client is not registered for response_type '\(type)'; add it to the client's response_types.",
            detail: "client=\(client)")
    }
    static func frontChannelToken(_ client: Client.ID) -> OAuthError {
        OAuthError(
            .unauthorizedClient, "front_channel_token",
            "A self-registered client gets no access token in an authorization response: ask for a code.",
            detail: "client=\(client)")
    }
    static let noIDTokenWithoutOpenID = OAuthError(
        .invalidScope, "id_token_without_openid", "An ID token needs the scope openid.")
    static let noSuchContext = OAuthError(
        .unmetAuthenticationRequirements, "essential_acr_unknown",
        "No sign-in here meets the essential acr values: see acr_values_supported.")
    static let requestURINotSupported = OAuthError(
        .requestURINotSupported, "request_uri",
        "request_uri is not accepted here: send it to the authorization "
            + "endpoint.")
    static let registrationNotSupported = OAuthError(
        .registrationNotSupported, "registration",
        "The parameter registration is not supported: register the "
            + "client beforehand.")
    public static let requestNotSupported = OAuthError(
        .requestNotSupported, "unsigned_request_object", "A request object must be signed with a key of the client.")
    public static func requestObjectRefused(
        _ reason: String, _ hint: String, _ detail: String? = nil
    ) -> OAuthError {
        OAuthError(.invalidRequestObject, reason, "The request object was refused: \(hint).", detail: detail)
    }
    public static func requestURIRefused(_ reason: String, _ hint: String, _ detail: String? = nil) -> OAuthError {
        OAuthError(.invalidRequestURI, reason, "The request_uri was refused: \(hint).", detail: detail)
    }
    public static let requestTwice = OAuthError(
        .invalidRequest, "request_and_request_uri", "Send either request or request_uri.")
    static func targetRefused(_ reason: String, _ hint: String) -> OAuthError {
        OAuthError(.invalidTarget, reason, hint)
    }
}

extension OAuthError.Code {
    /// Whether it says that a valid request needs the user, which `prompt=none` forbids (OpenID Connect Core §3.1.2.6).
    public var needsUser: Bool {
        switch self {
        case .loginRequired, .consentRequired, .interactionRequired: true
        default: false
        }
    }
}

// Every error of this module in one list: the code for the client, the reason for the log, the hint for the developer.
// A hint says what to fix and never what exists: an unknown code and another client's code read alike.
extension OAuthError {
    // MARK: The request

    public static func missing(_ name: Parameter) -> OAuthError {
        OAuthError(.invalidRequest, "missing_parameter", "The parameter '\(name.rawValue)' is missing.")
    }
    public static func repeated(_ name: Parameter) -> OAuthError {
        OAuthError(.invalidRequest, "repeated_parameter", "The parameter '\(name.rawValue)' occurs more than once.")
    }
    public static func malformed(_ name: Parameter, _ expected: String) -> OAuthError {
        OAuthError(
            .invalidRequest, "malformed_parameter", "The parameter '\(name.rawValue)' is malformed: \(expected).")
    }
    static func unsupportedGrant(_ offered: some Sequence<GrantType>) -> OAuthError {
        OAuthError(
            .unsupportedGrantType, "unsupported_grant_type",
            "grant_type must be one of \(offered.map(\.name).sorted().joined(separator: ", ")).")
    }
    public static func grantNotAllowed(_ client: Client.ID) -> OAuthError {
        OAuthError(
            .unauthorizedClient, "grant_not_allowed",
            "This client is not registered for this grant_type; add it to the client's grant_types.",
            detail: "client=\(client)")
    }

    // MARK: Client authentication

    public static let noClient = OAuthError(
        .invalidClient, "no_client", "Client authentication is missing: send client_id, and its secret if it has one.")
    public static let twoCredentials = OAuthError(
        .invalidRequest, "two_credentials",
        "The client authenticated twice: use the Authorization header or the body, not both.")
    public static let malformedBasic = OAuthError(
        .invalidClient, "malformed_basic",
        "The Basic credentials are malformed: base64 of form-encoded client_id, colon, form-encoded secret.")
    static let clientAssertionMalformed = OAuthError(
        .invalidClient, "malformed_client_assertion",
        "The client assertion is malformed: a JWT whose sub is the client_id, with client_assertion_type "
            + "\(ClientAssertion.type).")
    public static func clientRefused(_ reason: String, _ client: Client.ID, _ detail: String = "") -> OAuthError {
        badClient(reason, detail: "client=\(client)" + (detail.isEmpty ? "" : " \(detail)"))
    }
    public static func unknownClient(_ id: Client.ID) -> OAuthError {
        badClient("unknown_client", detail: "client=\(id.beginning)")
    }
    /// One text for all of them: it must not tell which clients exist.
    private static func badClient(_ reason: String, detail: String) -> OAuthError {
        OAuthError(
            .invalidClient, reason,
            "Client authentication failed: the client is unknown or disabled, or its secret, assertion or method of "
                + "authentication is wrong. The server's log says which, at the X-Request-Id of this response.",
            detail: detail)
    }

    /// The client's key set on its own server cannot be read, so the client may be genuine. It may ask again.
    public static func clientKeysUnavailable(_ client: Client.ID, _ cause: String) -> OAuthError {
        OAuthError(
            .temporarilyUnavailable, "client_keys_unavailable",
            "The client's key set cannot be read from its jwks_uri at the moment. Wait as long as Retry-After says.",
            detail: "client=\(client) cause=\(cause)", retryAfter: .seconds(10))
    }

    // MARK: Registration

    static let softwareStatement = OAuthError(
        .unapprovedSoftwareStatement, "software_statement",
        "This server accepts no software statements: send their content as members of the registration.")
    static let registrationsExhausted = OAuthError(
        .tooManyRequests, "registrations_exhausted",
        "This initial access token is used up: ask for another one.")
    static let merchantIsFull = OAuthError(
        .tooManyRequests, "merchant_is_full",
        "The merchant of this initial access token has \(Clients.mostOfMerchant) self-registered clients: "
            + "one must be deleted first.")
    static func registrationRefused(_ fault: JSONFault) -> OAuthError {
        let name = fault.member.isEmpty ? "The body" : "'\(fault.member)'"
        // RFC 7591 §3.2.2 has a separate error code for redirect URIs.
        let code: Code = fault.member == "redirect_uris" ? .invalidRedirectURI : .invalidClientMetadata
        let expected = fault.expected.replacing("\"", with: "'")
        return OAuthError(code, "registration", "\(name) must be \(expected).", detail: "member=\(fault.member)")
    }

    // MARK: Codes and grants

    public static func codeRefused(_ reason: String, _ detail: String? = nil) -> OAuthError {
        OAuthError(
            .invalidGrant, reason,
            "The code is unknown, expired, spent, or was issued to another client, redirect_uri or code_verifier. The "
                + "server's log says which, at the X-Request-Id of this response.", detail: detail)
    }
    public static func refreshRefused(_ reason: String, _ detail: String? = nil) -> OAuthError {
        OAuthError(
            .invalidGrant, reason,
            "The refresh token is unknown, expired, revoked, used up, or was issued to another client. The server's "
                + "log says which, at the X-Request-Id of this response.", detail: detail)
    }
    static func repeatedTooOften(_ token: RefreshToken) -> OAuthError {
        refreshRefused("refresh_repeated_too_often", "family=\(token.family)")
    }
    static let unverifiedUser = OAuthError(
        .invalidGrant, "unverified_user",
        "The credentials are right, but this client requires a verified e-mail address: send the user to /verify.",
        userFault: .unverified)
    /// RFC 8693 §2.2.2: a subject token that a policy does not accept is an invalid request.
    static let unverifiedSubject = OAuthError(
        .invalidRequest, unverifiedUser.reason, unverifiedUser.hint, userFault: .unverified)
    /// The identity provider asserts a user that is unknown here: the app registers or links the user, then tries
    /// again.
    public static let unknownUser = OAuthError(
        .invalidGrant, "unknown_user",
        "No user is linked to this provider account: register or link it first.",
        userFault: .unknown)
    public static func wrongUserCredentials(_ reason: String) -> OAuthError {
        OAuthError(.invalidGrant, reason, "The user name or password is wrong.", userFault: .wrongCredentials)
    }
    /// `bucket` is the limit that is reached.
    public static func tooManySignIns(_ wait: Duration, bucket: String? = nil) -> OAuthError {
        OAuthError(
            .tooManyRequests, "sign_in_throttled", "Too many failed sign-ins. Wait as long as Retry-After says.",
            detail: bucket.map { "bucket=\($0)" }, retryAfter: wait)
    }
    public static func tooManyUsers(_ wait: Duration) -> OAuthError {
        OAuthError(
            .tooManyRequests, "new_users_throttled",
            "The merchant has created many users. Wait as long as Retry-After says, or ask the platform to "
                + "import them.", retryAfter: wait)
    }
    public static func tooManyIssuedCodes(_ wait: Duration) -> OAuthError {
        OAuthError(
            .tooManyRequests, "issued_codes_throttled",
            "This user was issued many codes in a short time. Wait as long as Retry-After says.", retryAfter: wait)
    }
    public static func tooManyChanges(_ wait: Duration) -> OAuthError {
        OAuthError(
            .tooManyRequests, "changes_throttled",
            "The merchant has changed this user often. Wait as long as Retry-After says.", retryAfter: wait)
    }
    public static func tooMuchSupport(_ wait: Duration) -> OAuthError {
        OAuthError(
            .tooManyRequests, "support_throttled",
            "Support has done this for the user often. Wait as long as Retry-After says.", retryAfter: wait)
    }
    public static let signInsOverloaded = OAuthError(
        .temporarilyUnavailable, "password_queue_full", "Too many sign-ins at once. Try again in a moment.",
        retryAfter: .seconds(2))
    public static func assertionRefused(_ reason: String, _ hint: String, _ detail: String? = nil) -> OAuthError {
        OAuthError(.invalidGrant, reason, "The assertion was refused: \(hint)", detail: detail)
    }
    public static let stateChanged = OAuthError(
        .temporarilyUnavailable, "contended", "Concurrent requests with this token interfered. Try again.",
        retryAfter: .seconds(1))

    static let secretEndedMeanwhile = OAuthError(
        .temporarilyUnavailable, "secret_ended_meanwhile", "A secret of this client has just been ended. Try again.",
        retryAfter: .seconds(1))

    // MARK: Presented tokens

    public static let noToken = noToken("Send it in the Authorization header, after 'Bearer '")
    /// A request without a token where one is looked for. `hint` says where that is, or what was found there.
    public static func noToken(_ hint: String) -> OAuthError {
        OAuthError(.invalidToken, "no_token", "An access token is missing. \(hint).")
    }
    public static func tokenRefused(_ reason: String) -> OAuthError {
        OAuthError(
            .invalidToken, reason,
            reason == "expired_token" ? "The access token has expired." : "The access token is unknown or revoked.")
    }
    static let tokenForResource = OAuthError(
        .invalidToken, "token_for_resource",
        "The access token is for another resource and not valid here: request one without resource.")
    public static let userTokenNeeded = OAuthError(
        .invalidToken, "user_token_needed", "This call needs a user's token, not a client's own.")
    static let chainTooLong = OAuthError(
        .accessDenied, "too_many_purchases",
        "This token descends from \(TokenFamily.Path.longest - 1) purchases, which is the limit: sign the user in "
            + "again.")
    public static func scopeMissing(_ scope: String) -> OAuthError {
        OAuthError(.insufficientScope, "insufficient_scope", "The access token lacks the scope '\(scope)'.")
    }

    // MARK: Exchange

    public static func foreignMerchant(_ client: Client.ID) -> OAuthError {
        OAuthError(
            .accessDenied, "foreign_merchant",
            "The access token's merchant has no active client with this id.",
            detail: "client=\(client.beginning)")
    }
    public static func receiver(_ reason: String, _ hint: String) -> OAuthError {
        OAuthError(.invalidRequest, reason, hint)
    }
}
