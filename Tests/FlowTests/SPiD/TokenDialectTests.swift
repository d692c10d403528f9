import Cryptography
import Foundation
import JSON
import TestSupport
import Testing
import Values

@Suite("The token endpoint answers SPiD's clients in SPiD's words and members, and all others in RFC 6749's")
struct TokenDialectTests {
    // MARK: Words

    private static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    @Test(
        "The token endpoint refuses grants in SPiD's words to SPiD's clients, and in RFC 6749's to others",
        arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let cases: [(KeyValuePairs<String, String>, rfc: String, spid: String)] = [
                ([:], "invalid_request", "invalid_request"),
                (["grant_type": "implicit"], "unsupported_grant_type", "unsupported_grant_type"),
                (["grant_type": "password", "username": World.email], "invalid_request", "invalid_request"),
                (
                    ["grant_type": "password", "username": World.email, "password": "a guess"],
                    "invalid_grant", "invalid_user_credentials"
                ),
                (
                    ["grant_type": "password", "username": "nobody@example.com", "password": "a guess"],
                    "invalid_grant", "invalid_user_credentials"
                ),
                (
                    ["grant_type": "password", "username": World.email, "password": World.password, "scope": "admin"],
                    "invalid_scope", "invalid_scope"
                ),
                (["grant_type": "client_credentials", "scope": "nonsense"], "invalid_scope", "invalid_scope"),
                (
                    ["grant_type": "authorization_code", "code": "spent", "redirect_uri": spid.redirectURI],
                    "invalid_grant", "invalid_grant"
                ),
                (["grant_type": "authorization_code"], "invalid_request", "invalid_request"),
                (["grant_type": "refresh_token", "refresh_token": "dead"], "invalid_grant", "invalid_grant"),
                (["grant_type": Self.jwtBearer, "assertion": "none"], "invalid_grant", "invalid_grant"),
                (["grant_type": "password", "grant_type": "password"], "invalid_request", "invalid_request"),
            ]
            for (form, rfc, name) in cases {
                try await expect(400, rfc, try await world.token(form, as: world.backend), "\(form)")
                try await expectSPiD(400, name, try await world.token(form, as: spid), "\(form)")
            }
        }
    }

    @Test(
        "A failed client authentication is worded as SPiD's, as RFC 6749's, or as both for an unknown client",
        arguments: Backend.available)
    func clients(backend: Backend) async throws {
        try await World.with(backend) { world in
            let form: KeyValuePairs = ["grant_type": "client_credentials"]
            let spid = try await world.spidBackend()
            for (client, isSPiD) in [(spid, true), (world.backend, false)] {
                let inBody = try await world.server.post(
                    "/oauth/token",
                    ["grant_type": "client_credentials", "client_id": client.id, "client_secret": "a guess"])
                let silent = try await world.token(form, as: client.with(secret: ""))
                let inHeader = try await world.token(form, as: client.with(secret: "a guess"))
                for (answer, challenge) in [(inHeader, "Basic realm=\"spindle\""), (inBody, nil), (silent, nil)] {
                    if isSPiD {
                        try await expectSPiD(400, "invalid_client_credentials", answer)
                    } else {
                        try await expect(401, "invalid_client", answer)
                        #expect(answer.header("www-authenticate") == challenge)
                    }
                }
            }
            let unknown = World.Actor(id: "nobody", secret: "a guess", redirectURI: "")
            // An unknown client is refused in both wordings.
            let strangers = [
                try await world.token(form, as: unknown), try await world.server.post("/oauth/token", form),
                try await world.token(form, as: world.backend.with(secret: "a guess")),
            ]
            for stranger in strangers {
                try await expect(401, "invalid_client", stranger)
                #expect(stranger.json["type"] == "OAuthException" && stranger.json["error_code"] == "401 Unauthorized")
            }
            #expect(strangers[0].body == strangers[2].body, "and the answer does not tell which client there is")
            #expect(strangers[0].header("www-authenticate") == "Basic realm=\"spindle\"")
            try await world.change("clients", spid.id, ["disabled": true])
            try await expectSPiD(400, "invalid_client_credentials", try await world.token(form, as: spid))
        }
    }

    @Test(
        "A change of spid_compatible changes the wording of the token endpoint's refusals at once",
        arguments: Backend.available)
    func setting(backend: Backend) async throws {
        try await World.with(backend) { world in
            let form: KeyValuePairs = ["grant_type": "client_credentials"]
            try await expect(400, "unauthorized_client", try await world.token(form, as: world.app))
            try await world.change("clients", world.app.id, ["spid_compatible": true])
            try await expectSPiD(400, "unauthorized_client", try await world.token(form, as: world.app))
            try await world.change("clients", world.app.id, ["spid_compatible": false])
            try await expect(400, "unauthorized_client", try await world.token(form, as: world.app))
        }
    }

    @Test(
        "The token endpoint reports an unverified address only to a user who knows the password",
        arguments: Backend.available)
    func unverified(backend: Backend) async throws {
        try await World.with(backend) { world in
            let strict = try await world.confidential(["require_verified_email": true])
            let spid = try await world.spidBackend(["require_verified_email": true])
            try await expect(400, "invalid_grant", try await world.signIn(with: strict))
            try await expectSPiD(400, "unverified_user", try await world.signIn(with: spid))
            let guess = try await world.signIn(with: spid, password: "a guess")
            try await expectSPiD(400, "invalid_user_credentials", guess)
            try await world.change("users", world.user, ["email_verified": true])
            #expect(try await world.signIn(with: spid).status == 200)
        }
    }

    @Test("A malformed token request is refused in the wording of the client in its Authorization header")
    func unreadable() async throws {
        try await World.with(.sqlite) { world in
            let spid = try await world.spidBackend()
            for (client, isSPiD) in [(spid, true), (world.backend, false)] {
                let header = "Basic " + Data("\(client.id):\(client.secret)".utf8).base64EncodedString()
                for (type, body) in [
                    ("text/plain", "grant_type=password"), ("application/x-www-form-urlencoded", "scope=%zz"),
                    ("application/json", "{"),
                ] {
                    let answer = try await world.server.send(
                        "POST", "/oauth/token", body: Array(body.utf8),
                        headers: ["Content-Type": type, "Authorization": header])
                    if isSPiD {
                        try await expectSPiD(400, "invalid_request", answer, type)
                    } else {
                        try await expect(400, "invalid_request", answer, type)
                    }
                }
                let two = try await world.server.post(
                    "/oauth/token",
                    ["grant_type": "client_credentials", "client_id": client.id, "client_secret": client.secret],
                    headers: ["Authorization": header])
                #expect(two.error == "invalid_request" && (two.json["type"] == "OAuthException") == isSPiD)
            }
        }
    }

    @Test(
        "A SPiD client's throttled token request gets SPiD's words with status 429 and Retry-After",
        arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            for _ in 1...10 {
                let guess = try await world.signIn(with: spid, password: "a guess")
                try await expectSPiD(400, "invalid_user_credentials", guess)
            }
            let refused = try await world.signIn(with: spid)
            try await expectSPiD(429, "too_many_requests", refused)
            #expect(refused.json["error_code"] == "429 Too Many Requests")
            #expect(refused.header("retry-after") == "30")
        }
    }

    @Test("The path /api/2/oauth/token words its refusals like /oauth/token")
    func path() async throws {
        try await World.with(.sqlite) { world in
            let spid = try await world.spidBackend()
            for (client, isSPiD) in [(spid, true), (world.backend, false)] {
                let answer = try await world.server.post(
                    "/api/2/oauth/token", ["grant_type": "refresh_token", "refresh_token": "dead"],
                    basic: client.basic)
                if isSPiD {
                    try await expectSPiD(400, "invalid_grant", answer)
                } else {
                    try await expect(400, "invalid_grant", answer)
                }
            }
        }
    }

    // MARK: Members

    private static let rfc = ["access_token", "token_type", "expires_in", "scope", "refresh_token", "user_id"]
    private static let spid = rfc + ["is_admin", "server_time"]

    @Test(
        "A password, refresh or exchange code grant's answer has is_admin and server_time for SPiD's clients only",
        arguments: Backend.available)
    func password(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            for (client, members) in [(spid, Self.spid), (world.backend, Self.rfc)] {
                let signedIn = try await world.signIn(with: client)
                let refreshed = try await world.refresh(try signedIn.require("refresh_token"), as: client)
                let bought = try await world.exchange(try await world.signIn().require("access_token"), for: client)
                let redeemed = try await world.redeem(try bought.require("code"), as: client)
                for answer in [signedIn, refreshed, redeemed] {
                    #expect(answer.json.members?.map(\.name) == members)
                    #expect(answer.json["user_id"]?.string == world.user)
                    #expect(answer.json["token_type"] == "Bearer")
                    #expect(answer.json["expires_in"] == .integer(3600))
                    #expect(answer.json["scope"] == "profile email")
                    guard client.id == spid.id else { continue }
                    #expect(answer.json["is_admin"] == .bool(false))
                    #expect(answer.json["server_time"] == .integer(world.server.clock.now.seconds))
                }
            }
        }
    }

    @Test(
        "An authorization code grant's answer has is_admin and server_time for SPiD's clients only",
        arguments: Backend.available)
    func authorized(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (client, members) in [(try await world.spidBackend(), Self.spid), (world.backend, Self.rfc)] {
                let code = try await world.authorizationCode(for: client)
                let answer = try await world.redeemAuthorization(code, as: client)
                #expect(answer.status == 200, "\(answer)")
                expectUser(answer, members, of: world)
            }
        }
    }

    @Test(
        "Tokens and codes have letters, digits, - and _ only, and are longer than SPiD's forty characters",
        arguments: Backend.available)
    func texts(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let signedIn = try await world.signIn(with: spid)
            let token = try signedIn.require("access_token")
            let code = try await world.exchange(token, for: spid).require("code")
            let session = try await world.exchange(
                token, for: spid, type: "session", redirectURI: spid.redirectURI
            ).require("code")
            for text in [token, try signedIn.require("refresh_token"), code, session] {
                #expect(text.wholeMatch(of: /[A-Za-z0-9_-]{41,}/) != nil, "\(text)")
            }
        }
    }

    @Test(
        "A jwt-bearer grant's answer has is_admin and server_time for SPiD's clients only",
        arguments: Backend.available)
    func asserted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let secret = "a shared secret of at least 32 bytes"
            let issuer = try await World.make(
                world.server, world.admin, "issuers",
                [
                    "merchant_id": .string(world.merchant), "issuer": "https://paper.example",
                    "secret": .string(secret), "create_users": true,
                ])
            try #require(issuer.status == 201, "\(issuer)")
            for (client, members) in [(try await world.spidBackend(), Self.spid), (world.backend, Self.rfc)] {
                let claims: JSON = [
                    "iss": "https://paper.example", "sub": "kari", "aud": "http://spindle.test/oauth/token",
                    "exp": .integer(world.server.clock.now.seconds + 300), "jti": .string(client.id),
                ]
                let signed = [["alg": "HS256"], claims].map { Base64URL.encode(Array($0.text.utf8)) }
                    .joined(separator: ".")
                let signature = Base64URL.encode(Digest.hmacSHA256(Array(signed.utf8), key: Array(secret.utf8)))
                let answer = try await world.token(
                    [
                        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                        "assertion": signed + "." + signature,
                    ], as: client)
                #expect(answer.status == 200, "\(answer)")
                expectUser(answer, members)
            }
        }
    }

    private func expectUser(_ answer: Answer, _ members: [String], of world: World? = nil) {
        #expect(answer.json.members?.map(\.name) == members)
        #expect(answer.json["user_id"]?.string != nil)
        if let world { #expect(answer.json["user_id"]?.string == world.user) }
        #expect(answer.json["token_type"] == "Bearer" && answer.json["scope"] == "profile email")
        #expect(answer.json["is_admin"] == (members == Self.spid ? false : nil))
        #expect((answer.json["server_time"] != nil) == (members == Self.spid))
    }

    @Test(
        "A client credentials grant's answer has SPiD's extra members for SPiD's clients only",
        arguments: Backend.available)
    func client(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let own = try await world.token(["grant_type": "client_credentials"], as: spid)
            let refreshed = try await world.refresh(try own.require("refresh_token"), as: spid)
            for answer in [own, refreshed] {
                #expect(answer.json.members?.map(\.name) == Self.spid)
                #expect(answer.json["user_id"] == .bool(false))
            }
            let strict = try await world.token(["grant_type": "client_credentials"], as: world.backend)
            #expect(strict.json.members?.map(\.name) == ["access_token", "token_type", "expires_in", "scope"])
        }
    }

    @Test(
        "A SPiD client's empty scope is answered as an empty string; another client's is left out",
        arguments: Backend.available)
    func emptyScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["scope": ""])
            #expect(try await world.signIn(with: spid).json["scope"] == "")
            let strict = try await world.confidential(["scope": ""])
            #expect(try await world.signIn(with: strict).json["scope"] == nil)
        }
    }
}

/// A refusal as SPiD's SDKs know it.
func expectSPiD(
    _ status: Int, _ error: String, _ answer: Answer, _ what: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    #expect(answer.status == status, "\(what): \(answer)", sourceLocation: sourceLocation)
    #expect(answer.error == error, "\(what): \(answer)", sourceLocation: sourceLocation)
    #expect(
        answer.json.members?.map(\.name) == ["error", "error_code", "type", "error_description"],
        sourceLocation: sourceLocation)
    #expect(answer.json["type"] == "OAuthException", sourceLocation: sourceLocation)
    if status == 400 { #expect(answer.json["error_code"] == "400 Bad Request", sourceLocation: sourceLocation) }
    #expect(answer.json["error_description"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
    #expect(answer.header("www-authenticate") == nil, sourceLocation: sourceLocation)
    #expect(answer.header("cache-control") == "no-store", sourceLocation: sourceLocation)
}
