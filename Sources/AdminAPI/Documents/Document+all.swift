import Directory
import HTTPSupport
import JSON

/// The documents of administration. The members of a client are declared beside what reads them (`Client.settings`).
extension Document {
    static let merchant = Document(
        "Merchant",
        [
            .init("id", .text, as: .answer, ""),
            .init(
                "number", .number(1...2_147_483_647), as: .fixed, by: .platform,
                "how SPiD's API names it; the next by default. Give the one that its clients know"),
            .init("name", .text(200), isRequired: true, "in pages, and in the subject and text of mails"),
            .init(
                "logout_reaches_backends", .flag, default: false,
                "whether an app's sign-out ends backends' tokens too"),
            .init(
                "skip_introduction", .flag, default: false, by: .platform,
                "its own clients need no introduction to users"),
            .init("logo_uri", .text(like: "^https://"), "an https URL of its brand, not at this server; null removes"),
            .init("accent_color", .text(like: "^#[0-9a-fA-F]{6}$"), "of its brand; null removes"),
            .init("mail_templates", .document, "its own words for mails; null removes"),
            .createdAt, .updatedAt, .disabled(as: [.change, .answer]),
        ])

    static let client = Document(
        "Client",
        [
            .init(
                "client_id", .text(like: "^[A-Za-z0-9][A-Za-z0-9._-]{2,99}$"), as: .fixed, by: .platform,
                "one that its programs know already; a new one by default"),
            .init("client_secret", .text, as: .firstAnswer, "shown once"),
            .init("client_secret_expires_at", .number, as: .firstAnswer, "0: never"),
            .init("merchant_id", .text, as: .fixed, "left out only by a client that administers the platform"),
        ] + Client.settings + [
            .init("client_id_issued_at", .time, as: .answer, ""), .updatedAt,
            .init("sign_secret", .text, as: .firstAnswer, "shown once"),
            .disabled(as: [.change, .answer]),
        ])

    static let secret = Document(
        "Secret",
        [
            .init("id", .text, as: .answer, ""), .init("client_secret", .text, as: .firstAnswer, "shown once"),
            .createdAt,
        ])

    static let event = Document(
        "Event",
        [
            .init("id", .text, as: .answer, "sorts by time"),
            .init("time", .text, as: .answer, "in UTC, to the millisecond"),
            .init("type", .text, as: .answer, "what was done, such as `user.changed`"),
            .init("actor", .party, as: .answer, "who did it"),
            .init("subject", .party, as: .answer, "to whom or what"),
            .init("merchant_id", .text, as: .answer, "the merchant that may see it"),
            .init("client_id", .text, as: .answer, "the client that it concerns"),
            .init("address", .text, as: .answer, "where the request came from"),
            .init("user_agent", .text, as: .answer, "the browser's description of itself"),
            .init("request_id", .text, as: .answer, "the id of the request in the log"),
            .init("outcome", .word("success", "refused"), as: .answer, ""),
            .init("reason", .text, as: .answer, "of a refusal: the word in the log"),
            .init("count", .number, as: .answer, "how many equal ones it stands for, if more than one"),
            .init("before", .document, as: .answer, "the members that changed, as they were"),
            .init("after", .document, as: .answer, "the same members as they are now"),
            .init("detail", .text, as: .answer, "what else is known"),
        ])

    static let initialAccessToken = Document(
        "InitialAccessToken",
        [
            .init("id", .text, as: .answer, ""), .merchant,
            .init("expires_in", .number(60...31_536_000), as: .create, default: 86400, "seconds"),
            .init(
                "max_registrations", .number(1...1000), as: .fixed, default: 1000,
                "how many clients may register with it"),
            .init("registrations", .number, as: .answer, "how many have"), .createdAt,
            .init("expires_at", .time, as: .answer, ""),
            .init("initial_access_token", .text, as: .firstAnswer, "shown once"),
        ])

    static let user = Document(
        "User",
        [
            .init(
                "user_id", .text, as: .fixed, by: .platform,
                "a number below 2^53 by which another system knows the user; a new one by default"),
            .init(
                "sub", .text(255), as: .fixed, by: .platform,
                "by which clients of another system know the user; the number by default"), .updatedAt,
            .init("email", .email, "one that sign-up takes; only the platform changes it"),
            .init(
                "email_verified", .flag, by: .platform,
                "`true` alone says that the user reads the address, and removes nothing"),
            .init(
                "password", .text(8...128), as: .secret, by: .platform,
                "never shown. A new one ends every token and session"),
        ] + User.claims.flatMap(\.value).map(claim) + [
            .init(
                User.phoneVerified, .flag, by: .platform,
                "false forgets the number; only the user shows to read text messages there"),
            .init(
                "attributes", .map(.any(of: .text, .list(.text, most: 200), .null)), by: .platform,
                """
                what clients' `id_token_claims` are made from: at most 50 names, each with a text or a list. A change \
                sets those it names, removes those that are null, and leaves the others; null removes them all
                """), .createdAt,
            .init(
                "disabled", .flag, default: false, by: [.platform, .platformSupport],
                "ends every token and session; support sets it, and only an administrator unsets it"),
            .init("deletion_due_at", .time, as: .answer, "when a user who asked for deletion will be deleted"),
        ])

    private static func claim(_ name: String) -> DocumentMember {
        guard name == "address" else { return .init(name, .text(User.longestClaim), "a claim; null removes it") }
        let part = Schema.text(User.longestClaim)
        return .init(
            name,
            .object([
                "formatted": part, "street_address": part, "locality": part, "region": part, "postal_code": part,
                "country": part,
            ]), "a claim; null removes it")
    }

    static let issuer = Document(
        "Issuer",
        [
            .init("id", .text, as: .answer, ""), .merchant,
            .init("issuer", .text(1000), "the `iss` of its tokens, which cannot change"),
            .init("provider", .word("google", "apple", "facebook"), "needs neither `issuer` nor keys"),
            .init("jwks", .document, "its public keys (RFC 7517)"),
            .init("jwks_uri", .text(1000), "where its public keys are"),
            .init("discovery_url", .text(1000), "where its document names its keys"),
            .init("secret", .text, as: .secret, "the HMAC key, of at least 32 bytes"),
            .init("audiences", .list(.text), "whom its tokens are for"),
            .init("algorithms", .list(.text), "how its tokens are signed"),
            .init("create_users", .flag, default: false, "unknown subjects become new users"),
            .init("nonce", .word("required", "if_sent", "none"), default: "if_sent", ""),
            .init("nonce_transform", .word("none", "sha256"), default: "none", ""),
            .init("authorized_parties", .list(.text), default: .array([]), ""),
            .init("max_age", .number, "seconds"),
            .init("link_by_email", .flag, default: false, by: .platform, "its users are found by their address"),
            .init(
                "authoritative_domains", .list(.text), default: .array([]), by: .platform,
                "the domains whose addresses it vouches for"),
            .init("client_id", .text(1000), "to send users there to sign in; null ends that"),
            .init("client_secret", .text(1000), as: .secret, ""),
            .init("sign_in_name", .text(200), "what the button says"),
            .init("scope", .text(1000), "what is asked for there"),
            .init("team_id", .text(100), as: .secret, "in place of Apple's `client_secret`"),
            .init("key_id", .text(100), as: .secret, "in place of Apple's `client_secret`"),
            .init("private_key", .text(4000), as: .secret, "in place of Apple's `client_secret`"),
            .init("app_names", .list(.text(200)), "what the provider's apps call themselves in `iss`"),
            .init("app_secret", .text, as: .secret, "Facebook's"),
            .init(
                "signs_in_everywhere", .flag, by: .platform, "whether a provider's sign-ins are good at every merchant"),
            .createdAt, .updatedAt, .disabled(),
        ])

    static let webhook = Document(
        "Webhook",
        [
            .init("id", .text, as: .answer, ""),
            .init("merchant_id", .text, "required where the platform makes one; cannot change"),
            .init(
                "name", .text(like: "^[A-Za-z0-9._-]{1,64}$"), isRequired: true,
                "the last part of its address, unique in the deployment; cannot change"),
            .init("signed", .flag, as: .answer, "whether it has secrets"),
            .init(
                "secrets", .list(.text, most: 2), as: .secret,
                "in base64, 32 to 1024 bytes, as Ditto's portal shows them. `[]` or null removes them"),
            .init("provider", .text, "which requests must then name, to the letter"),
            .init("database_id", .text, "which requests must then name, to the letter"),
            .init(
                "token_kinds", .list(.word("access_token", "jwt_access_token", "id_token")),
                default: .array(["access_token", "jwt_access_token"]), "which tokens are taken"),
            .init(
                "clients", .list(.text),
                "whose tokens are taken, the merchant's first-party clients by default; required with `id_token`"),
            .init("audiences", .list(.text), default: .array([]), "whom an access token may be meant for"),
            .init("scope", .text, "which access tokens must cover; not with `id_token`"),
            .init("permissions", .document, isRequired: true, "what Ditto lets users read and write"),
            .init("expiration_seconds", .number(60...2_592_000), default: 28800, ""),
            .init(
                "expiration", .word("token", "own"), default: "token",
                "`token`: never longer than the token lives; `own`: `expiration_seconds`, whatever the token's rest"),
            .init("refusal_status", .number, default: 200, "or 401 or 403"),
            .init("client_info", .document, "at most 4096 bytes, told as they are"),
            .init("identity_service_metadata", .document, "at most 4096 bytes, told as they are"),
            .createdAt, .updatedAt, .disabled(),
            .init("url", .text, as: .answer, "for Ditto's portal"),
        ])
}

extension DocumentMember {
    fileprivate static let createdAt = DocumentMember("created_at", .time, as: .answer, "")
    fileprivate static let updatedAt = DocumentMember("updated_at", .time, as: .answer, "")
    /// Of what belongs to a merchant: an administrator of the merchant may leave it out.
    fileprivate static let merchant = DocumentMember(
        "merchant_id", .text, as: .fixed, "required where the platform makes one")
    fileprivate static func disabled(as uses: Uses = .usual) -> DocumentMember {
        .init("disabled", .flag, as: uses, default: false, "a pause; only the platform ends it")
    }
}

extension Schema {
    /// One who acts, or that something is done to.
    fileprivate static let party = object(["type": .text, "id": .text], required: ["type"])
}
