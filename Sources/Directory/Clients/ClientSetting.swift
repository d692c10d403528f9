/// A member of a client that administration may set.
public struct ClientSetting: Sendable {
    /// What its value is.
    public enum Value: String, Sendable {
        case text
        case list
        case flag = "true or false"
        case number
        case document = "JSON"
    }

    public let member: String
    public let value: Value

    /// Every setting, in the order of their modules. Administration refuses other members, and the help of the commands
    /// lists these.
    public static let all = (names + OpenIDSettings.names + SPiDSettings.names).map { name in
        ClientSetting(member: name, value: values.first { $0.names.contains(name) }?.value ?? .text)
    }

    private static let names = [
        "client_name", "redirect_uris", "grant_types", "scope", "token_endpoint_auth_method", "first_party",
        "spid_compatible", "rotate_refresh_tokens", "access_token_lifetime", "refresh_token_lifetime",
        "refresh_family_lifetime", "refresh_repeat_window", "refresh_leeway", "require_pkce", "web_origins",
        "post_logout_redirect_uris", "callback_uri", "require_verified_email", "signed_responses", "tos_uri",
    ]

    /// The names of those that are no text.
    private static let values: [(value: Value, names: Set<String>)] = [
        (
            .list,
            [
                "redirect_uris", "grant_types", "web_origins", "post_logout_redirect_uris", "response_types",
                "request_uris", "resources", "contacts", "public_exchange_codes_from", "required_fields",
                "terms_summary", "session_hosts",
            ]
        ),
        (
            .flag,
            [
                "first_party", "spid_compatible", "rotate_refresh_tokens", "require_pkce", "require_verified_email",
                "signed_responses", "id_token_scope_claims", "require_issuer_audience",
                "backchannel_logout_session_required", "authorization_response_iss", "exchange_front_channel_tokens",
                "codes_redeemed_twice",
            ]
        ),
        (
            .number,
            [
                "access_token_lifetime", "refresh_token_lifetime", "refresh_family_lifetime", "refresh_repeat_window",
                "refresh_leeway", "id_token_lifetime", "default_max_age",
            ]
        ),
        (.document, ["id_token_claims", "access_token_claims", "jwks"]),
    ]
}
