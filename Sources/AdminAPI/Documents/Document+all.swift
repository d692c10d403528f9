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
                "how SPiD's API names it: by default the next. Give the one that its clients know"),
            .init("name", .text(200), isRequired: true, "in pages, and in the subject and text of mails"),
            .init(
                "logout_reaches_backends", .flag, default: false,
                "whether an app's sign-out ends backends' tokens too"),
            .init(
                "skip_introduction", .flag, default: false, by: .platform,
                "its own clients need no introduction to users"),
            .init("logo_uri", .text(like: "^https://"), "of its brand: https, not at this server; null removes it"),
            .init("accent_color", .text(like: "^#[0-9a-fA-F]{6}$"), "of its brand; null removes it"),
            .init("events_uri", .text(1000), "gets its events as signed tokens; null removes it"),
            .init("mail_templates", .document, "its own words for mails; null removes them"),
            .createdAt, .updatedAt, .disabled(as: [.change, .answer], by: .platform),
        ])

    static let client = Document(
        "Client",
        [
            .init(
                "client_id", .text(like: "^[A-Za-z0-9][A-Za-z0-9._-]{2,99}$"), as: .fixed, by: .platform,
                "one that its programs know already; a new one by default"),
            .init("client_secret", .text, as: .firstAnswer, ""),
            .init("client_secret_expires_at", .number, as: .firstAnswer, "0: never"),
            .init("merchant_id", .text, as: .fixed, "left out only by a client that administers the platform"),
        ] + Client.settings + [
            .init("client_id_issued_at", .time, as: .answer, ""), .updatedAt,
            .init("sign_secret", .text, as: .firstAnswer, ""),
            .disabled(as: [.change, .answer]),
        ])

    static let secret = Document(
        "Secret",
        [
            .init("id", .text, as: .answer, ""), .init("client_secret", .text, as: .firstAnswer, ""),
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
            .init("initial_access_token", .text, as: .firstAnswer, ""),
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
            .init(
                "email", .email, changedBy: .platform,
                "one that sign-up takes. The domain is kept in ASCII and lower case"),
            .init(
                "email_verified", .flag, by: .platform,
                "`true` alone says that the user reads the address, and removes nothing"),
            .init(
                "password", .text(8...128), as: .secret, by: .platform,
                "a new one ends every token and session"),
        ] + User.claims.flatMap(\.value).map(claim) + [
            .init(
                User.phoneVerified, .flag, changedBy: .platform,
                "false forgets the number; only the user shows to read text messages there"),
            .init(
                "attributes", .map(.any(of: .text(0...500), .list(.text(0...500), most: 200), .null), most: 50),
                by: .platform,
                """
                what clients' `id_token_claims` are made from: at most 50 names of 1 to 100 bytes. `PATCH` sets \
                those it names, removes those that are null, and leaves the others; null removes them all. Clients \
                of every merchant can receive them
                """), .createdAt,
            .init(
                "disabled", .flag, default: false, by: .platform, changedBy: [.platform, .platformSupport],
                "ends every token and session; support sets it, and only an administrator unsets it"),
            .init(
                "deletion_due_at", .time, as: .answer,
                "when a user who asked for deletion will be deleted. `DELETE` deletes at once"),
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
            .init(
                "issuer", .text(1000),
                "the `iss` of its tokens, without blanks, which cannot change; required for what is no provider"),
            .init(
                "provider", .word("google", "apple", "facebook"),
                """
                needs neither `issuer` nor keys, which only the platform sets for it. Its `audiences` are the app \
                ids that tokens must have been issued to (one for Facebook)
                """),
            .init(
                "jwks", .document,
                "its public keys (RFC 7517): one of `jwks`, `jwks_uri`, `discovery_url` and `secret` is required"),
            .init(
                "jwks_uri", .text(1000),
                "where its public keys are: https; http too in what `outbound_allow_private` names"),
            .init(
                "discovery_url", .text(1000),
                "where its document is, which names its keys: an address as `jwks_uri`"),
            .init("secret", .text(32...1000), as: .secret, "at least 32 bytes: its UTF-8 bytes are the HMAC key"),
            .init("audiences", .list(.text(1000), most: 50), "whom its tokens are for"),
            .init("algorithms", .list(.text), "how its tokens are signed"),
            .init("create_users", .flag, default: false, "unknown subjects become new users"),
            .init("nonce", .word("required", "if_sent", "none"), default: "if_sent", "whether an ID token needs one"),
            .init("nonce_transform", .word("none", "sha256"), default: "none", "what the app did to the nonce"),
            .init(
                "authorized_parties", .list(.text, most: 50), default: .array([]),
                "whom an ID token may have been issued to"),
            .init("max_age", .number(1...86400), "seconds that an assertion may be old"),
            .init("link_by_email", .flag, default: false, by: .platform, "its users are found by their address"),
            .init(
                "authoritative_domains", .list(.text, most: 50), default: .array([]), by: .platform,
                "the domains whose addresses it vouches for"),
            .init(
                "client_id", .text(200),
                """
                to send users there to sign in, with `discovery_url`; null ends that. Only the platform sets it for \
                what is no provider
                """),
            .init("client_secret", .text(4000), as: .secret, "that of the `client_id`"),
            .init("sign_in_name", .text(60), "what the button says"),
            .init("scope", .text(500), "what is asked for there"),
            .init(
                "team_id", .text(100), as: .secret,
                """
                with `key_id` and `private_key` in place of Apple's `client_secret`: one is made whenever it is \
                needed
                """),
            .init("key_id", .text(100), as: .secret, "see `team_id`"),
            .init("private_key", .text, as: .secret, "see `team_id`"),
            .init(
                "app_names", .list(.text(200), most: 50),
                "for access tokens of Google: what apps call themselves in `iss` besides those ids"),
            .init("app_secret", .text(200), as: .secret, "for access tokens of Facebook: its `client_secret` too"),
            .init(
                "signs_in_everywhere", .flag, by: .platform,
                """
                whether a provider's sign-ins are good at every merchant and at the account page, and not only at \
                its own merchant
                """),
            .createdAt, .updatedAt, .disabled(),
        ])

    static let webhook = Document(
        "Webhook",
        [
            .init("id", .text, as: .answer, ""),
            .init("merchant_id", .text, "required where the platform makes one; cannot change"),
            .init(
                "name", .text(like: "^[A-Za-z0-9._-]{1,64}$"), isRequired: true,
                """
                the last part of its address, unique in the deployment, also among those that other merchants had \
                before; no `.` or `..`. It cannot change
                """),
            .init("signed", .flag, as: .answer, "whether it has secrets"),
            .init(
                "secrets", .list(.text, most: 2), as: .secret,
                "in base64, 32 to 1024 bytes, as Ditto's portal shows them. `[]` or null removes them"),
            .init("provider", .text(200), "which requests must then name, to the letter"),
            .init("database_id", .text(200), "which requests must then name, to the letter"),
            .init(
                "token_kinds", .list(.word("access_token", "jwt_access_token", "id_token")),
                default: .array(["access_token", "jwt_access_token"]), "which tokens are taken"),
            .init(
                "clients", .list(.text, most: 50),
                "whose tokens are taken, the merchant's first-party clients by default; required with `id_token`"),
            .init(
                "audiences", .list(.text(1000), most: 50), default: .array([]),
                "whom an access token may be meant for"),
            .init("scope", .text(1000), "which access tokens must cover; not with `id_token`"),
            .init(
                "permissions", .document, isRequired: true,
                """
                `read` and `write`, each with `everything` and `queriesByCollection`, and `remoteQuery`. Queries may \
                have the blanks `{{sub}}` and, for users of first-party clients, `{{attributes.NAME}}`, between \
                quotation marks
                """),
            .init(
                "expiration_seconds", .number(60...2_592_000), default: 28800,
                "how long Ditto may remember an answer"),
            .init(
                "expiration", .word("token", "own"), default: "token",
                "`token`: never longer than the token lives; `own`: `expiration_seconds`, whatever the token's rest"),
            .init("refusal_status", .number(of: 200, 401, 403), default: 200, "of an answer that admits no user"),
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
    fileprivate static func disabled(
        as uses: Uses = .usual, by setters: AdministratorRoles = .administrators
    ) -> DocumentMember {
        .init("disabled", .flag, as: uses, default: false, by: setters, "a pause; only the platform ends it")
    }
}

extension Schema {
    /// One who acts, or that something is done to.
    fileprivate static let party = object(["type": .text, "id": .text], required: ["type"])
}
