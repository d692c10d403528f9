import Cryptography
import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("ID tokens, read as clients read them")
struct IDTokenTests {
    @Test("An ID token of a password sign-in says who signed in, for whom, when and how", arguments: Backend.available)
    func password(backend: Backend) async throws {
        try await World.with(backend) { world in
            let answer = try await world.signIn(scope: "openid")
            let jwt = try await world.published(try answer.require("id_token"))
            #expect(jwt.header["alg"]?.string == "RS256")
            #expect(jwt.header["typ"]?.string == "JWT")
            let now = world.server.clock.now.seconds
            let hash = Digest.sha256(try answer.require("access_token").utf8).prefix(16)
            let expected: JSON = [
                "iss": "http://spindle.test", "sub": .string(world.user), "aud": .string(world.app.id),
                "exp": .integer(now + 3600), "iat": .integer(now), "auth_time": .integer(now),
                "acr": "urn:spindle:password", "amr": ["pwd"], "azp": .string(world.app.id),
                "at_hash": .string(Base64URL.encode(Array(hash))),
            ]
            #expect(jwt.claims == expected)
            #expect(try await world.signIn(scope: "profile").json["id_token"] == nil)
        }
    }

    @Test(
        "An ID token for a code has the request's nonce; one from a refresh is new and has no nonce",
        arguments: Backend.available)
    func codeAndRefresh(backend: Backend) async throws {
        try await World.with(backend) { world in
            let asked = try await world.authorizationCode(["scope": "openid offline_access", "nonce": "n-0S6_WzA2Mj"])
            world.server.clock.advance(by: .seconds(20))
            let answer = try await world.redeemAuthorization(asked)
            let first = try await world.idToken(in: answer)
            #expect(first["nonce"]?.string == "n-0S6_WzA2Mj")
            let signedInAt = try #require(first["auth_time"]?.integer)
            #expect(first["iat"]?.integer == signedInAt + 20)
            #expect(first["amr"]?.strings == ["pwd"])
            let session = try #require(first["sid"]?.string)

            world.server.clock.advance(by: .minutes(30))
            let refreshed = try await world.refresh(try answer.require("refresh_token"))
            let second = try await world.idToken(in: refreshed)
            #expect(second["nonce"] == nil)
            #expect(second["iat"]?.integer == signedInAt + 20 + 1800)
            #expect(second["auth_time"]?.integer == signedInAt)
            #expect(second["sid"]?.string == session)
            for name in ["iss", "sub", "aud", "azp", "acr"] { #expect(second[name] == first[name]) }
            #expect(second["at_hash"] != first["at_hash"])

            let silent = try await world.redeemAuthorization(try await world.authorizationCode(["scope": "openid"]))
            #expect(try await world.idToken(in: silent)["nonce"] == nil)
        }
    }

    @Test(
        "A backend gets an ID token when it redeems a code that a phone app bought for it",
        arguments: Backend.available)
    func exchange(backend: Backend) async throws {
        try await World.with(backend) { world in
            let receiver = try await world.relyingClient()
            let phone = try await world.signIn(scope: "openid email")
            let code = try await world.exchange(try phone.require("access_token"), for: receiver).require("code")
            let claims = try await world.idToken(in: try await world.redeem(code, as: receiver))
            #expect(claims["sub"]?.string == world.user)
            #expect(claims["aud"]?.string == receiver.id)
            #expect(claims["nonce"] == nil)
        }
    }

    @Test(
        "A grant by an issuer's assertion yields an ID token; a client credentials grant does not",
        arguments: Backend.available)
    func assertion(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.relyingClient()
            let key = PrivateKey.generate(.es256)
            let jwk = JSONWebKey(key)
            let issuer = try await World.make(
                world.server, world.admin, "issuers",
                [
                    "merchant_id": .string(world.merchant), "issuer": "https://issuer.example",
                    "jwks": ["keys": [jwk.json]], "create_users": true,
                ])
            #expect(issuer.status == 201)
            let now = world.server.clock.now.seconds
            let assertion = CompactJWS.sign(
                [
                    "iss": "https://issuer.example", "sub": "grace", "aud": "http://spindle.test",
                    "exp": .integer(now + 60), "iat": .integer(now), "jti": "1",
                ], type: "JWT", key: key, keyID: jwk.keyID)
            let answer = try await world.token(
                [
                    "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion,
                    "scope": "openid",
                ], as: client)
            #expect(try await world.idToken(in: answer)["sub"]?.string == answer.require("user_id"))

            let own = try await world.token(["grant_type": "client_credentials", "scope": "openid"], as: client)
            #expect(own.status == 200)
            #expect(own.json["id_token"] == nil)
        }
    }

    @Test(
        "An ID token has the signing algorithm and the lifetime that are set for its client",
        arguments: Backend.available)
    func algorithms(backend: Backend) async throws {
        try await World.with(backend) { world in
            for algorithm in ["RS256", "ES256", "PS256", "EdDSA"] {
                let client = try await world.relyingClient([
                    "id_token_signed_response_alg": .string(algorithm), "id_token_lifetime": 120,
                ])
                let answer = try await world.signIn(scope: "openid", with: client)
                let jwt = try await world.published(try answer.require("id_token"))
                #expect(jwt.header["alg"]?.string == algorithm)
                #expect(jwt.header["kid"]?.string?.isEmpty == false)
                let issuedAt = try #require(jwt.claims["iat"]?.integer)
                #expect(jwt.claims["exp"]?.integer == issuedAt + 120)
                let token = try answer.require("access_token").utf8
                let digest = algorithm == "EdDSA" ? Digest.sha512(token) : Digest.sha256(token)
                let half = Array(digest.prefix(digest.count / 2))
                #expect(jwt.claims["at_hash"]?.string == Base64URL.encode(half))
            }
            for wrong in ["none", "HS256", "RS512"] {
                let refused = try await world.change(
                    "clients", world.app.id, ["id_token_signed_response_alg": .string(wrong)])
                expectProblem(refused, 400, member: "id_token_signed_response_alg")
            }
        }
    }

    @Test(
        "A client's id_token_claims come from the user's attributes, as a text or a list",
        arguments: Backend.available)
    func ownClaims(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change(
                "users", world.user, ["attributes": ["groups": ["editors", "night shift"], "channel": "news"]])
            let client = try await world.relyingClient([
                "id_token_claims": ["roles": "groups", "channels": "channel", "nothing": "unset"]
            ])
            let answer = try await world.signIn(scope: "openid", with: client)
            let claims = try await world.idToken(in: answer)
            #expect(claims["roles"]?.strings == ["editors", "night shift"])
            #expect(claims["channels"]?.string == "news")
            #expect(claims["nothing"] == nil)
            // The subject is a string, although it looks like a number.
            #expect(claims["sub"]?.string == world.user)
            #expect(try await world.idToken(in: try await world.signIn(scope: "openid"))["roles"] == nil)

            try await world.change("users", world.user, ["attributes": ["groups": .array([])]])
            let refreshed = try await world.refresh(try answer.require("refresh_token"), as: client)
            #expect(try await world.idToken(in: refreshed)["roles"]?.strings == [])
            for name in ["sub", "iss", "nonce", "at_hash"] {
                let refused = try await world.change(
                    "clients", client.id, ["id_token_claims": .object([.init(name, "groups")])])
                expectProblem(refused, 400, member: "id_token_claims")
            }
        }
    }

    @Test(
        "A new client's ID token has the claims of its scope, unless id_token_scope_claims is false",
        arguments: Backend.available)
    func scopeClaims(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.relyingClient([:])
            let answer = try await world.signIn(scope: "openid email", with: client)
            for told in [answer, try await world.refresh(try answer.require("refresh_token"), as: client)] {
                let claims = try await world.idToken(in: told)
                #expect(claims["email"]?.string == World.email)
                #expect(claims["email_verified"]?.bool == false)
                #expect(claims["name"] == nil)
            }
            #expect(try await world.change("clients", client.id, ["id_token_scope_claims": false]).status == 200)
            let silent = try await world.idToken(in: try await world.signIn(scope: "openid email", with: client))
            #expect(silent["email"] == nil)
            let refused = try await world.change("clients", client.id, ["id_token_scope_claims": "yes"])
            expectProblem(refused, 400, member: "id_token_scope_claims")
        }
    }

    @Test(
        "A SPiD-compatible client's ID token has the claims of its scope only if it says so",
        arguments: Backend.available)
    func scopeClaimsOfSPiD(backend: Backend) async throws {
        try await World.with(backend) { world in
            let scope: JSON = "openid email"
            let silent = try await world.confidential(["scope": scope, "spid_compatible": true])
            let telling = try await world.confidential([
                "scope": scope, "spid_compatible": true, "id_token_scope_claims": true,
            ])
            for (client, email) in [(silent, nil), (telling, World.email)] {
                let answer = try await world.signIn(scope: "openid email", with: client)
                #expect(try await world.idToken(in: answer)["email"]?.string == email)
            }
        }
    }

    @Test(
        "A pairwise client gets a subject of its sector for a user, and not the user's number",
        arguments: Backend.available)
    func pairwise(backend: Backend) async throws {
        try await World.with(backend) { world in
            func subject(_ host: String) async throws -> String {
                let client = try await world.relyingClient([
                    "subject_type": "pairwise", "redirect_uris": [.string("https://\(host)/callback")],
                ])
                let answer = try await world.signIn(scope: "openid", with: client)
                let claims = try await world.idToken(in: answer)
                let userinfo = try await world.server.get(
                    "/oauth/userinfo", bearer: try answer.require("access_token"))
                #expect(userinfo.json["sub"] == claims["sub"])
                return try #require(claims["sub"]?.string)
            }
            let first = try await subject("one.example")
            #expect(try await subject("one.example") == first)
            let second = try await subject("two.example")
            #expect(second != first)
            #expect(first != world.user && second != world.user)
        }
    }

    @Test(
        "Single claims that an authorization request names are in the ID token or at userinfo, as it says",
        arguments: Backend.available)
    func namedClaims(backend: Backend) async throws {
        try await World.with(backend) { world in
            let wish = #"{"id_token":{"name":{"essential":true}},"userinfo":{"email":null}}"#
            let code = try await world.authorizationCode(["scope": "openid", "claims": wish])
            let answer = try await world.redeemAuthorization(code)
            let claims = try await world.idToken(in: answer)
            #expect(claims["name"]?.string == "Ada Lovelace")
            #expect(claims["email"] == nil)
            let token = try answer.require("access_token")
            let userinfo = try await world.server.get("/oauth/userinfo", bearer: token)
            #expect(userinfo.json["email"]?.string == World.email)
            #expect(userinfo.json["name"] == nil)
            // A third party gets what the user allowed, which is the scope alone.
            try await world.change("clients", world.app.id, ["first_party": false])
            #expect(try await world.server.get("/oauth/userinfo", bearer: token).json["email"] == nil)
        }
    }

    @Test(
        "A third party gets requested single claims once the user ticked them; other claims need new consent",
        arguments: Backend.available)
    func strangersClaims(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            let wish = #"{"id_token":{"name":{"essential":true}},"userinfo":{"email":null,"phone_number":null}}"#
            var browser = Browser(world.server)
            // The page does not ask for claims that are outside the client's scope.
            let page = try await world.authorize(in: &browser, ["scope": "openid", "claims": wish], for: client)
            #expect(page.boxes == ["openid", "claim:name", "claim:email"])
            let denied = try await world.answer(page, in: browser, "deny")
            #expect(denied.header("location")?.contains("error=access_denied") == true)
            let back = try await world.allow(page, in: &browser, ticking: page.boxes)
            let code = try back.requireRedirected("code")
            let answer = try await world.redeemAuthorization(code, as: client)
            let claims = try await world.idToken(in: answer)
            #expect(claims["name"]?.string == "Ada Lovelace" && claims["email"] == nil)
            let token = try answer.require("access_token")
            let userinfo = try await world.server.get("/oauth/userinfo", bearer: token)
            #expect(userinfo.json["email"]?.string == World.email && userinfo.json["name"] == nil)
            #expect(answer.json["scope"] == "openid", "a claim is no scope")
            // The consent is remembered; a claim that was not in it is asked for.
            let address = world.authorizeAddress(["scope": "openid", "claims": wish], for: client)
            let again = try await browser.open(address)
            #expect(again.redirected("code") != nil)
            let more = #"{"userinfo":{"given_name":null}}"#
            let silent = ["scope": "openid", "claims": more, "prompt": "none"] as KeyValuePairs
            let asked = try await browser.open(world.authorizeAddress(silent, for: client))
            #expect(asked.redirected("error") == "consent_required")
        }
    }

    // MARK: legacy_user_id

    private static let paths = ["/oauth/userinfo", "/userinfo"]

    @Test(
        "A SPiD-compatible client gets legacy_user_id, a string, in ID tokens and userinfo",
        arguments: Backend.available)
    func compatible(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let number: JSON = .string(world.user)
            // With the claims of the scope in the ID token, and without.
            for carries in [false, true] {
                let loom = try await world.relyingClient([
                    "spid_compatible": true, "id_token_scope_claims": .bool(carries),
                    "scope": "openid profile email offline_access",
                ])
                let answer = try await world.signIn(scope: "openid profile offline_access", with: loom)
                #expect(try await world.idToken(in: answer)["legacy_user_id"] == number)
                let refreshed = try await world.refresh(try answer.require("refresh_token"), as: loom)
                #expect(try await world.idToken(in: refreshed)["legacy_user_id"] == number)
                let token = try answer.require("access_token")
                for path in Self.paths {
                    #expect(try await world.server.get(path, bearer: token).json["legacy_user_id"] == number)
                    #expect(
                        try await world.server.send("POST", path, bearer: token).json["legacy_user_id"] == number)
                }
                try #require(
                    try await world.change("clients", loom.id, ["userinfo_signed_response_alg": "RS256"]).status == 200)
                let signed = try await world.server.get("/userinfo", bearer: token)
                #expect(try await world.published(signed.body).claims["legacy_user_id"] == number)
            }
        }
    }

    @Test(
        "Only a SPiD-compatible client gets legacy_user_id, and it cannot be pairwise",
        arguments: Backend.available)
    func others(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let plain = try await world.relyingClient()
            let pairwise = try await world.confidential(["subject_type": "pairwise", "scope": "openid profile"])
            #expect(try await world.change("clients", pairwise.id, ["spid_compatible": true]).status == 400)
            for client in [plain, pairwise] {
                let answer = try await world.signIn(scope: "openid profile", with: client)
                #expect(try await world.idToken(in: answer)["legacy_user_id"] == nil)
                let info = try await world.server.get("/userinfo", bearer: try answer.require("access_token"))
                #expect(info.status == 200 && info.json["legacy_user_id"] == nil)
            }
            // No attribute may take the claim's name.
            let refused = try await world.change(
                "clients", plain.id, ["id_token_claims": ["legacy_user_id": "number"]])
            expectProblem(refused, 400, member: "id_token_claims")
            // A mapping to the name from before it was reserved does not make the client unreadable.
            let document = try await world.server.database.write { db in
                let row = try #require(try db.rows("SELECT openid FROM clients WHERE id = \(plain.id)").first)
                let stored = try JSON(stored: try row.get("openid", as: String.self))
                let members = (stored.members ?? []).filter { $0.name != "id_token_claims" }
                let changed = JSON.object(members + [.init("id_token_claims", ["legacy_user_id": "n", "roles": "r"])])
                try db.execute("UPDATE clients SET openid = \(changed.text) WHERE id = \(plain.id)")
                return stored
            }
            let shown = try await world.server.get("/admin/v1/clients/\(plain.id)", bearer: world.admin)
            #expect(shown.status == 200 && shown.json["id_token_claims"] == ["roles": "r"], "\(document)")
        }
    }
}
