import JOSE
import JSON
import TestSupport
import Testing
import Values

@Suite("Access tokens that are JWTs: what they say, where they work, and when they end")
struct JWTAccessTokenTests {
    private static let resource = "https://api.example/orders"

    private func party(
        _ world: World, _ changes: KeyValuePairs<String, JSON> = [:]
    ) async throws -> World.Actor {
        var members: [JSON.Member] = [
            .init("access_token_format", "jwt"), .init("resources", [.string(Self.resource)]),
            .init("scope", "openid email"),
        ]
        members += changes.map { .init($0.key, $0.value) }
        let client = try await world.confidential([:])
        try await world.change("clients", client.id, .object(members))
        return client
    }

    private func verified(_ token: String, _ world: World) async throws -> VerifiedJWT {
        let keySet = try await world.server.get("/oauth/jwks").body
        return try await AssertionKeys(keySet: keySet).verify(token, allowed: [.rs256, .es256])
    }

    @Test(
        "A JWT access token has audience, issuer, scope and expiry, and is signed by the client's algorithm",
        arguments: Backend.available)
    func claims(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await party(world, ["id_token_signed_response_alg": "ES256"])
            let answer = try await world.signIn(scope: "openid email", with: client)
            let jwt = try await verified(try answer.require("access_token"), world)
            let now = world.server.clock.now.seconds
            #expect(jwt.header["typ"]?.string == "at+jwt")
            #expect(jwt.header["alg"]?.string == "ES256")
            let expected: KeyValuePairs<String, JSON> = [
                "iss": "http://spindle.test", "aud": "http://spindle.test", "sub": .string(world.user),
                "client_id": .string(client.id), "iat": .integer(now), "exp": .integer(now + 3600),
                "auth_time": .integer(now), "scope": "openid email",
            ]
            for (name, value) in expected { #expect(jwt.claims[name] == value, "\(name)") }
            let again = try await world.signIn(scope: "openid email", with: client).require("access_token")
            #expect(try await verified(again, world).claims["jti"] != jwt.claims["jti"])
            let own = try await verified(try await world.clientToken(client), world)
            #expect(own.claims["sub"]?.string == client.id)
            #expect(own.claims["auth_time"] == nil)
        }
    }

    @Test(
        "A JWT access token works like an opaque one, and ends by revocation, logout or expiry",
        arguments: Backend.available)
    func ended(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await party(world)
            func token() async throws -> String {
                try await world.signIn(scope: "openid email", with: client).require("access_token")
            }
            let first = try await token()
            #expect(try await world.isLive(first))
            let told = try await world.introspect(first, as: client)
            #expect(told.json["active"]?.bool == true)
            #expect(told.json["sub"]?.string == world.user)
            _ = try await world.server.post("/oauth/revoke", ["token": first], basic: client.basic)
            #expect(try await world.introspect(first, as: client).json["active"]?.bool == false)
            let second = try await token()
            _ = try await world.server.get("/logout", bearer: second)
            #expect(try await !world.isLive(second))
            let third = try await token()
            world.server.clock.advance(by: .seconds(3600))
            #expect(try await !world.isLive(third))
            // Signed by this server, but no access token.
            let forged = try await world.signIn(scope: "openid email", with: client).require("id_token")
            #expect(try await !world.isLive(forged))
        }
    }

    @Test("A registered resource becomes the token's audience, and stays so at refresh", arguments: Backend.available)
    func resource(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await party(world)
            let code = try await world.authorizationCode(["resource": Self.resource, "scope": "openid"], for: client)
            let other = try await world.redeemAuthorization(code, as: client, ["resource": "http://spindle.test"])
            #expect(other.error == "invalid_target")
            let tokens = try await world.redeemAuthorization(code, as: client, ["resource": Self.resource])
            let refreshed = try await world.refresh(try tokens.require("refresh_token"), as: client)
            for answer in [tokens, refreshed] {
                let token = try answer.require("access_token")
                #expect(try await verified(token, world).claims["aud"]?.string == Self.resource)
                #expect(try await world.introspect(token, as: client).json["aud"]?.string == Self.resource)
            }
            let own = try await world.token(
                ["grant_type": "client_credentials", "resource": Self.resource], as: client)
            #expect(try await verified(try own.require("access_token"), world).claims["aud"]?.string == Self.resource)
            let ours = try await world.authorizationCode(["resource": "http://spindle.test"], for: client)
            #expect(try await world.redeemAuthorization(ours, as: client).status == 200)
        }
    }

    @Test(
        "A request for an unregistered resource, or for two resources, is refused as invalid_target",
        arguments: Backend.available)
    func foreignResource(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await party(world)
            for resource in ["https://other.example/", Self.resource + "/", "nonsense"] {
                let answer = try await world.server.get(world.authorizeAddress(["resource": resource], for: client))
                #expect(answer.redirected("error") == "invalid_target")
                let own = try await world.token(
                    ["grant_type": "client_credentials", "resource": resource], as: client)
                #expect(own.error == "invalid_target")
            }
            let twice = "&resource=\(TestServer.encode(Self.resource))"
            let address = world.authorizeAddress(["prompt": "none"], for: client) + twice
            #expect(try await world.server.get(address).redirected("error") == "login_required")
            #expect(try await world.server.get(address + twice).redirected("error") == "invalid_target")
        }
    }

    @Test(
        "A client's own opaque token for a resource has that audience in introspection, and is refused here",
        arguments: Backend.available)
    func opaqueForResource(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["resources": [.string(Self.resource)], "scope": "orders"])
            let token = try await world.token(
                ["grant_type": "client_credentials", "resource": Self.resource], as: client
            ).require("access_token")
            let told = try await world.introspect(token, as: client).json
            #expect(told["active"] == true && told["aud"]?.string == Self.resource)
            #expect(try await world.server.get("/user/\(world.user)", bearer: token).status == 401)
            #expect(try await world.change("clients", client.id, ["resources": []]).status == 200)
            #expect(try await world.introspect(token, as: client).json["active"] == false)
        }
    }

    @Test(
        "access_token_claims put a user's attributes into JWT access tokens and into introspection",
        arguments: Backend.available)
    func attributes(backend: Backend) async throws {
        try await World.with(backend) { world in
            let claims: JSON = ["roles": "roles", "https://shop.example/tier": "tier", "absent": "nothing"]
            let client = try await party(world, ["access_token_claims": claims])
            let set = try await world.change(
                "users", world.user, ["attributes": ["roles": ["editor", "author"], "tier": "gold", "other": "x"]])
            try #require(set.status == 200)
            let answer = try await world.signIn(scope: "openid", with: client)
            let token = try answer.require("access_token")
            let told = try await world.introspect(token, as: client).json
            for members in [try await verified(token, world).claims, told] {
                #expect(members["roles"] == ["editor", "author"])
                #expect(members["https://shop.example/tier"] == "gold")
                #expect(members["absent"] == nil && members["other"] == nil)
            }
            #expect(try await world.idToken(in: answer)["roles"] == nil)
            // What does not fit into a header field is left to introspection.
            let long = JSON.array((0..<20).map { _ in .string(String(repeating: "x", count: 400)) })
            try #require(try await world.change("users", world.user, ["attributes": ["roles": long]]).status == 200)
            let longer = try await world.signIn(scope: "openid", with: client).require("access_token")
            let short = try await verified(longer, world).claims
            #expect(short["roles"] == nil && short["https://shop.example/tier"] == "gold")
            #expect(try await world.introspect(longer, as: client).json["roles"] == long)
            let own = try await world.clientToken(client)
            #expect(try await verified(own, world).claims["roles"] == nil)
            for name in ["sub", "scope", "client_id", "active", "username", "exp"] {
                let refused = try await world.change(
                    "clients", client.id, ["access_token_claims": .object([.init(name, "roles")])])
                expectProblem(refused, 400, member: "access_token_claims")
            }
            #expect(try await world.change("clients", client.id, ["access_token_claims": .null]).status == 200)
            #expect(try await world.introspect(token, as: client).json["roles"] == nil)
        }
    }

    @Test(
        "access_token_typ JWT is the typ of a client's JWT access tokens, and at+jwt is the usual one",
        arguments: Backend.available)
    func plainType(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await party(world, ["access_token_typ": "JWT"])
            let token = try await world.signIn(scope: "openid", with: client).require("access_token")
            #expect(try await verified(token, world).header["typ"] == "JWT")
            #expect(try await world.isLive(token))
            expectProblem(
                try await world.change("clients", client.id, ["access_token_typ": "jwt"]), 400,
                member: "access_token_typ")
            #expect(try await world.change("clients", client.id, ["access_token_typ": .null]).status == 200)
            let standard = try await world.signIn(scope: "openid", with: client).require("access_token")
            #expect(try await verified(standard, world).header["typ"] == "at+jwt")
        }
    }

    @Test(
        "A resource that differs from a registered one by a look-alike letter is refused",
        arguments: Backend.available)
    func lookalike(backend: Backend) async throws {
        try await World.with(backend) { world in
            let registered = "https://api.example/K"
            let client = try await world.confidential([
                "resources": [.string(registered)], "access_token_format": "jwt",
            ])
            let cases: [(String, String?)] = [
                (registered, nil), ("https://api.example/\u{212A}", "invalid_target"),
            ]
            for (resource, error) in cases {
                let own = try await world.token(
                    ["grant_type": "client_credentials", "resource": resource], as: client)
                #expect(own.error == error, "\(own)")
            }
        }
    }

    @Test(
        "The lifetime of a client's JWT access tokens can be set to 30 days at most",
        arguments: Backend.available)
    func lifetime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await party(world)
            let day: Int64 = 86_400
            let long = try await world.change("clients", client.id, ["access_token_lifetime": .integer(30 * day + 1)])
            #expect(long.status == 400)
            #expect(long.body.contains("access_token_lifetime"))
            let longest = try await world.change(
                "clients", client.id,
                ["access_token_lifetime": .integer(30 * day), "grant_types": ["authorization_code"]])
            #expect(longest.status == 200)
        }
    }
}
