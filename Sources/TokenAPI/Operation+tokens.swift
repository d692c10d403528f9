import Directory
import HTTP
import HTTPSupport
import JSON

/// The operations of OAuth, OpenID Connect, Ditto's webhook and health.
extension Operation {
    static let requestToken = Operation(
        "requestToken", "get tokens for a grant (RFC 6749 §3.2)", by: .client,
        body: fields(
            [
                "grant_type": "which grant", "code": "of the authorization endpoint, or an exchange code",
                "redirect_uri": "that of the authorization request", "code_verifier": "RFC 7636",
                "refresh_token": "of the last answer", "scope": "words apart by blanks",
                "username": "the user's address", "password": "the user's password",
                "assertion": "of a trusted issuer (RFC 7523)", "subject_token": "RFC 8693",
                "subject_token_type": "RFC 8693", "requested_token_type": "RFC 8693",
                "resource": "the audience (RFC 8707)", "audience": "the audience (RFC 8693)", "client_id": "the client",
                "client_secret": "its secret, for client_secret_post",
                "client_assertion": "its assertion (RFC 7523)", "client_assertion_type": "RFC 7523",
            ], required: ["grant_type"]),
        answers: [.shows(.tokens)])

    static let introspectToken = Operation(
        "introspectToken", "learn whether a token is live (RFC 7662)", by: .client,
        body: fields(["token": "the token", "token_type_hint": "what it probably is"], required: ["token"]),
        answers: [.init(.ok, .json(.object(["active": .flag], required: ["active"])), "what is known of it")])

    static let revokeToken = Operation(
        "revokeToken", "end a token, with its family (RFC 7009)", by: .client,
        body: fields(["token": "the token", "token_type_hint": "what it probably is"], required: ["token"]),
        answers: [.init(.ok, nil, "it is ended, or was unknown")])

    static let exchangeToken = Operation(
        "exchangeToken", "get a code for a backend or a browser, with a user's token", by: .token,
        body: fields([
            "clientId": "the client that redeems the code", "type": "`session` for a browser",
            "redirectUri": "where a browser goes", "state": "comes back",
        ]),
        answers: [.init(.ok, .json(.document), "the code")])

    static let redeemMailedCode = Operation(
        "redeemMailedCode", "get tokens for a mailed code", by: .client,
        body: fields([
            "client_id": "the client", "client_secret": "its secret", "grant_type": "passwordless",
            "passwordless_token": "of /passwordless/start", "identifier": "the address", "code": "the mailed code",
            "scope": "words apart by blanks",
        ]),
        answers: [.shows(.tokens)], refusingAs: .spid)

    static let registerClient = Operation(
        "registerClient", "register a client, with an initial access token (RFC 7591)", by: .token,
        body: .registration, answers: [.init(.created, .json(.document), "the registration")])
    static let getRegistration = Operation(
        "getRegistration", "read a registration (RFC 7592)", by: .token,
        answers: [.init(.ok, .json(.document), "the registration")])
    static let replaceRegistration = Operation(
        "replaceRegistration", "replace a registration (RFC 7592)", by: .token, body: .registration,
        answers: [.init(.ok, .json(.document), "the registration")])
    static let deleteRegistration = Operation(
        "deleteRegistration", "end a registration (RFC 7592)", by: .token, answers: [.done])

    static let getMetadata = Operation(
        "getMetadata", "discover this server (RFC 8414, OpenID Connect Discovery)", by: .anyone,
        answers: [.init(.ok, .json(.document), "the metadata")])
    static let getKeys = Operation(
        "getKeys", "read the public keys (RFC 7517)", by: .anyone,
        answers: [
            .init(.ok, .json(.object(["keys": .list(.document)], required: ["keys"])), "the keys")
        ])

    static let getUserinfo = Operation(
        "getUserinfo", "read the claims of a user (OpenID Connect Core §5.3)", by: .token, answers: [.claims])
    static let postUserinfo = Operation(
        "postUserinfo", "read the claims of a user (OpenID Connect Core §5.3)", by: .token,
        body: fields(["access_token": "the token (RFC 6750 §2.2)"]), answers: [.claims])
    static let getMe = Operation("getMe", "read the user of a token", by: .token, answers: [.claims])
    static let getUserOfClient = Operation(
        "getUserOfClient", "read a user whom the client knows", by: .token, answers: [.claims])

    static let askWhomToAdmit = Operation(
        "askWhomToAdmit", "ask whom to let in, as Ditto does", by: .anyone,
        body: .object(
            "DittoRequest",
            [
                .init("provider", .text, isRequired: true, "as set"),
                .init("token", .text, isRequired: true, "a user's token"),
                .init("appID", .text, "Ditto's app"), .init("databaseID", .text, "with `version` 1"),
                .init("version", .text, "`1`"),
            ]),
        answers: [.init(.ok, .json(.document), "whether, and what the user may read and write")])

    static let isAlive = Operation(
        "isAlive", "learn whether the process lives", by: .anyone,
        answers: [.init(.ok, .json(.health), "it does")])
    static let isReady = Operation(
        "isReady", "learn whether it can serve", by: .anyone,
        answers: [.init(.ok, .json(.health), "it can"), .init(.serviceUnavailable, .json(.health), "what it lacks")])
}

extension Schema {
    fileprivate static let health = object(["status": .text], required: ["status"])
}

extension Operation.Body {
    /// RFC 7591 §2, with the names that administration uses too. Others are ignored.
    static let registration = object("Registration", Client.settings)
}

extension Operation.Answer {
    static let claims = Operation.Answer(
        .ok, .json(.object(["sub": .text])), "the claims that the token's scope covers")
}

extension Document {
    static let tokens = Document(
        "Tokens",
        [
            .init("access_token", .text, as: .answer, ""), .init("token_type", .text, as: .answer, "Bearer"),
            .init("expires_in", .number, as: .answer, "seconds"),
            .init("refresh_token", .text, as: .answer, "of a grant that can be renewed"),
            .init("id_token", .text, as: .answer, "with the scope openid"),
            .init("scope", .text, as: .answer, "what was granted"),
            .init("user_id", .any(of: .text, .number), as: .answer, "for SPiD-compatible clients"),
        ])
}
