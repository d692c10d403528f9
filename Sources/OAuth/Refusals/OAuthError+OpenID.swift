import Directory

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
