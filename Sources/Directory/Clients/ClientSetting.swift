import Cryptography
import JOSE
import JSON

/// The settings of a client that administration may set, in the names of RFC 7591 where it has them. What is read of
/// them is in `ClientMetadata`, `OpenIDSettings` and `SPiDSettings`.
extension Client {
    /// In the order of their modules. The help of the commands lists these.
    public static let settings = ownSettings + OpenIDSettings.declared + SPiDSettings.declared

    private static let ownSettings: [DocumentMember] = [
        .init("client_name", .text(200), "on pages"),
        .init("redirect_uris", .list(.uri, most: 50), default: .array([]), "as at registration"),
        .init(
            "grant_types", .list(.word(GrantType.registrable.map(\.name)), most: 50),
            default: .array(["authorization_code"]),
            "`passwordless` with `spid_compatible` only"),
        .init("scope", .text(0...2000), default: "", "words apart by blanks. Only the platform grants admin scopes"),
        .init(
            "token_endpoint_auth_method", .word(Client.Authentication.allCases.map(\.rawValue)),
            default: "client_secret_basic",
            "how it authenticates, which cannot change; `private_key_jwt` with `jwks` or `jwks_uri`"),
        .init(
            "first_party", .flag, default: true,
            "whether it is the merchant's own: users are introduced to the merchant, and asked nothing"),
        .init(
            "spid_compatible", .flag, default: false,
            "whether it gets SPiD's answers, and has the members of SPiD-compatible clients"),
        .init(
            "rotate_refresh_tokens", .flag,
            "a client without a secret, or with a redirect URI in an app's scheme, always does: false is refused"),
        .init(
            "access_token_lifetime", .number(10...31_536_000), default: 3600,
            "seconds. A client's own tokens, and those that can be refreshed, live a day at most, JWTs 30 days"),
        .init(
            "refresh_token_lifetime", .number(60...31_536_000), default: 2_592_000, "seconds from the last use"),
        .init(
            "refresh_family_lifetime", .any(of: .number(60...315_360_000), .word("while_used")), default: 31_536_000,
            "seconds that the refresh tokens of one grant live together, or `while_used`"),
        .init(
            "refresh_repeat_window", .number(0...86400), default: 600,
            "seconds in which a lost answer can be requested again"),
        .init(
            "refresh_leeway", .number(0...60),
            """
            seconds in which tabs of a browser app may refresh with the same token: 10 by default. Any other client \
            has 0, and more is refused
            """),
        .init(
            "require_pkce", .flag,
            """
            true by default, but false with `spid_compatible` and for a client that registered itself. A client \
            without a secret always needs PKCE
            """),
        .init(
            "web_origins", .list(.text, most: 50), default: .array([]),
            """
            of its web pages, which may ask for the session and call this server; a first party's may frame the \
            sign-in
            """),
        .init("post_logout_redirect_uris", .list(.uri, most: 50), default: .array([]), "where a logout may return to"),
        .init("callback_uri", .text(2000), "gets callbacks about users"),
        .init(
            "require_verified_email", .flag, default: false,
            """
            whether its users must have a verified address, whatever the grant. A code, assertion or refresh token \
            of another user is refused, and stays good; its pages are told of no other
            """),
        .init("signed_responses", .flag, default: false, "whether SPiD's API signs its answers"),
        .init(
            "tos_uri", .text(2000),
            "its terms: users who sign up for it or allow it agree to them. New terms need a new URL"),
    ]
}

extension OpenIDSettings {
    private static let keyAlgorithms = PrivateKey.Algorithm.allCases.map(\.rawValue)
    private static let signatureAlgorithms = SignatureAlgorithm.allCases.map(\.rawValue)

    static let declared: [DocumentMember] = [
        .init(
            "response_types", .list(.word(ResponseType.all.map(\.description)), most: 50), default: .array(["code"]),
            "implicit and hybrid answers are off until a client names them"),
        .init(
            "id_token_signed_response_alg", .word(IDTokenAlgorithm.all.map(\.name)), default: "RS256",
            "`HS256` signs with the client's sign secret; its logout tokens are signed as these"),
        .init("id_token_lifetime", .number(60...2_592_000), default: 3600, "seconds"),
        .init(
            "id_token_scope_claims", .flag,
            """
            whether its ID tokens from `/oauth/token` carry the claims of the scope (name, address …): by default, \
            but not for SPiD-compatible clients. Those through the browser carry them only without an access token
            """),
        .init(
            "id_token_claims", .map(.text(100), most: 30),
            """
            further claims, each with the `attributes` member of the user that it is made from: at most 30, none of \
            them the protocol's own. Only the platform sets them for a third party's client
            """),
        .init(
            "access_token_claims", .map(.text(100), most: 30),
            """
            claims of its JWT access tokens and of introspection (RFC 9068 §2.2.3.1), as `id_token_claims`. In a JWT \
            those that do not fit into 4 KiB are left out
            """),
        .init(
            "access_token_typ", .word("at+jwt", "JWT"), default: "at+jwt",
            """
            the `typ` of its JWT access tokens: `JWT` for resource servers that refuse the standard one. They must \
            check `aud`, since ID tokens are `JWT` too
            """),
        .init(
            "subject_type", .word("public", "pairwise"), default: "public",
            "`pairwise`: another subject of each user for each https host"),
        .init("sector_identifier_uri", .text(2000), "lists the redirect URIs of all clients of its sector"),
        .init("userinfo_signed_response_alg", .word(keyAlgorithms), "as at registration"),
        .init("request_object_signing_alg", .word(signatureAlgorithms), "as at registration"),
        .init("request_uris", .list(.uri, most: 20), "as at registration"),
        .init("token_endpoint_auth_signing_alg", .word(signatureAlgorithms), "as at registration"),
        .init("require_issuer_audience", .flag, default: false, "its assertions name the issuer alone"),
        .init("jwks", .document, "its public keys (RFC 7517)"),
        .init("jwks_uri", .text(2000), "where its public keys are"),
        .init("access_token_format", .word("opaque", "jwt"), default: "opaque", "what its access tokens are"),
        .init(
            "resources", .list(.text(500), most: 50),
            "the audiences that its access tokens may be requested for, besides this server (RFC 8707)"),
        .init("default_max_age", .number(0...31_536_000), "seconds"),
        .init("backchannel_logout_uri", .text(2000), "told when a session ends"),
        .init("backchannel_logout_session_required", .flag, default: false, "whether logout tokens name the session"),
        .init("software_id", .text(1000), "as at registration"),
        .init("software_version", .text(1000), "as at registration"),
        .init("client_uri", .text(2000), "as at registration"),
        .init("logo_uri", .text(2000), "as at registration"),
        .init("policy_uri", .text(2000), "as at registration"),
        .init("initiate_login_uri", .text(2000), "as at registration"),
        .init("application_type", .word("web", "native"), "what kind of app it is"),
        .init("contacts", .list(.text, most: 20), "as at registration"),
    ]
}

extension SPiDSettings {
    /// Only a SPiD-compatible client has them. Turned off, `spid_compatible` gives these their defaults again.
    static let declared: [DocumentMember] = [
        .init(
            "authorization_response_iss", .flag, default: false,
            """
            whether authorization answers carry `iss` (RFC 9207). Set it if the client's library expects what \
            discovery says
            """
        ),
        .init(
            "exchange_front_channel_tokens", .flag, default: false,
            "whether its tokens of the implicit grant buy codes, never sessions"),
        .init(
            "public_exchange_codes_from", .list(.text(100), most: 10), default: .array([]),
            "ids of clients of its merchant whose tokens buy exchange codes for it"),
        .init(
            "codes_redeemed_twice", .flag, default: false,
            "whether a code of `/oauth/authorize` may be redeemed once more while it lives, a minute"),
        .init(
            "required_fields", .list(.word(Field.allCases.map(\.rawValue)), most: 50), default: .array([]),
            "what it tells its apps to ask users for; no page of this server asks"),
        .init(
            "terms_summary", .list(.text(300), most: 20), default: .array([]),
            "what is new in its terms, for its apps to show: in `GET /api/2/terms`, on no page of this server"),
        .init(
            "session_hosts", .list(.text(260), most: 10), default: .array([]), by: .platform,
            """
            hosts of its site that lead to this server, as in `Host`, for the session service. Until the platform \
            takes them, the merchant's administrator cannot delete the client (403)
            """),
    ]
}
