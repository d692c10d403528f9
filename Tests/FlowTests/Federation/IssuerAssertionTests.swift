import Cryptography
import JSON
import TestSupport
import Testing
import Values

@Suite("A merchant's trusted issuer, from registration to token (RFC 7523)")
struct IssuerAssertionTests {
    private static let secret = "a shared secret of at least 32 bytes"
    private static let name = "https://paper.example"

    @Test(
        "An issuer's subject becomes one user, the same each time, for this merchant only",
        arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await register(world, ["create_users": true])
            let first = try await present(world, claims(world))
            #expect(first.status == 200)
            #expect(try await world.isLive(try first.require("access_token")))
            #expect(try await world.refresh(try first.require("refresh_token"), as: world.backend).status == 200)
            let second = try await present(world, claims(world))
            #expect(try second.require("user_id") == first.require("user_id"))
            let other = try await present(world, claims(world, ["sub": "ola"]))
            #expect(try other.require("user_id") != first.require("user_id"))
            // Another merchant does not trust this issuer.
            #expect(try await present(world, claims(world), as: world.rivalBackend).error == "invalid_grant")
        }
    }

    @Test("No assertion is accepted twice, whether told by its jti or its text", arguments: Backend.available)
    func replay(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await register(world, ["create_users": true])
            let named = claims(world, ["jti": "one"])
            #expect(try await present(world, named).status == 200)
            #expect(try await present(world, named).error == "invalid_grant")
            #expect(try await present(world, claims(world, ["jti": "one", "sub": "ola"])).error == "invalid_grant")
            let nameless = claims(world, ["jti": .null])
            #expect(try await present(world, nameless).status == 200)
            #expect(try await present(world, nameless).error == "invalid_grant")
            #expect(world.server.log.says("assertion_replayed"))
            let raced = sign(claims(world))
            let answers = try await race(10) { try await present(world, assertion: raced) }
            #expect(answers.filter { $0.status == 200 }.count == 1)
        }
    }

    @Test(
        "An assertion's time, audience, issuer and signature must be valid, and a refusal does not spend it",
        arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await register(world, ["create_users": true])
            let now = world.server.clock.now.seconds
            let bad: [KeyValuePairs<String, JSON>] = [
                ["exp": .integer(now)], ["exp": .null], ["exp": .integer(now + 2 * 86400)], ["exp": "soon"],
                ["nbf": .integer(now + 600)], ["iat": .integer(now + 600)], ["aud": "https://other.example"],
                ["aud": .null], ["iss": "https://elsewhere.example"], ["iss": .null], ["sub": .null], ["sub": ""],
            ]
            for changes in bad {
                let answer = try await present(world, claims(world, changes))
                try await expect(400, "invalid_grant", answer, "\(changes)")
            }
            let good = claims(world)
            let forged = sign(good, secret: "another secret of at least 32 bytes")
            try await expect(400, "invalid_grant", try await present(world, assertion: forged))
            let unsigned = sign(good, header: ["alg": "none"]).split(separator: ".").prefix(2).joined(separator: ".")
            try await expect(400, "invalid_grant", try await present(world, assertion: unsigned + "."))
            for torn in ["x", "a.b.c", "..", String(sign(good).dropLast(3))] {
                let answer = try await present(world, assertion: torn)
                #expect(answer.status == 400, "\(torn)")
            }
            #expect(try await present(world, good).status == 200)
        }
    }

    @Test(
        "The issuer URL and the token endpoint's URL are both accepted as an assertion's audience",
        arguments: Backend.available)
    func audiences(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await register(world, ["create_users": true, "audiences": ["https://alias.example"]])
            for audience: JSON in [
                "http://spindle.test", "http://spindle.test/oauth/token", "https://alias.example",
                ["https://alias.example", "http://spindle.test"],
            ] {
                #expect(try await present(world, claims(world, ["aud": audience])).status == 200, "\(audience.text)")
            }
        }
    }

    @Test("An unknown subject is refused unless the issuer may create users", arguments: Backend.available)
    func unknownSubject(backend: Backend) async throws {
        try await World.with(backend) { world in
            let issuer = try await register(world, [:])
            #expect(try await present(world, claims(world)).error == "invalid_grant")
            try await world.change("issuers", try issuer.require("id"), ["create_users": true])
            let made = try await present(world, claims(world))
            try await world.change("issuers", try issuer.require("id"), ["create_users": false])
            #expect(try await present(world, claims(world)).json["user_id"] == made.json["user_id"])
            try await world.change("users", try made.require("user_id"), ["disabled": true])
            #expect(try await present(world, claims(world)).error == "invalid_grant")
        }
    }

    @Test(
        "An issuer is registered, listed, changed, disabled and deleted; its secret is never shown",
        arguments: Backend.available)
    func administration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await register(world, ["create_users": true])
            #expect(made.status == 201)
            #expect(made.json["algorithms"]?.strings == ["HS256"])
            let id = try made.require("id")
            let path = "/admin/v1/issuers/\(id)"
            for answer in [
                made, try await world.server.get(path, bearer: world.admin),
                try await world.server.get("/admin/v1/issuers", bearer: world.admin),
            ] {
                #expect(answer.body.contains(Self.name))
                #expect(!answer.body.contains(Self.secret))
            }
            try await world.change("issuers", id, ["disabled": true])
            #expect(try await present(world, claims(world)).error == "invalid_grant")
            try await world.change("issuers", id, ["disabled": false])
            #expect(try await present(world, claims(world)).status == 200)

            let token = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant"], of: world.rival), scope: "admin:merchant")
            expectProblem(try await world.server.get(path, bearer: token), 404)
            expectProblem(try await world.server.send("DELETE", path, bearer: token), 404)
            let stolen = try await World.make(
                world.server, token, "issuers",
                [
                    "merchant_id": .string(world.merchant), "issuer": "https://thief.example",
                    "secret": .string(Self.secret),
                ])
            expectProblem(stolen, 403, member: "merchant_id")

            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            expectProblem(try await world.server.get(path, bearer: world.admin), 404)
            #expect(try await present(world, claims(world)).error == "invalid_grant")
        }
    }

    @Test("Two merchants' issuers of the same name have different users", arguments: Backend.available)
    func strangers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let rivalSecret = "the rival's secret of at least 32 bytes"
            _ = try await register(world, ["create_users": true])
            _ = try await register(world, ["create_users": true], of: world.rival, secret: rivalSecret)
            let ours = try await present(world, claims(world))
            let theirs = sign(claims(world), secret: rivalSecret)
            #expect(try await present(world, assertion: theirs).error == "invalid_grant")
            let answer = try await present(world, assertion: theirs, as: world.rivalBackend)
            #expect(try answer.require("user_id") != ours.require("user_id"))
            // A subject that equals a user's id or address is another user.
            for subject in [world.user, World.email] {
                let named = try await present(world, claims(world, ["sub": .string(subject)]))
                #expect(try named.require("user_id") != world.user)
            }
        }
    }

    // MARK: -

    private func register(
        _ world: World, _ more: JSON, of merchant: String? = nil, secret: String = IssuerAssertionTests.secret
    ) async throws -> Answer {
        let base: JSON = [
            "merchant_id": .string(merchant ?? world.merchant), "issuer": .string(Self.name),
            "secret": .string(secret),
        ]
        return try await World.make(
            world.server, world.admin, "issuers", .object((base.members ?? []) + (more.members ?? [])))
    }

    private func claims(_ world: World, _ changes: KeyValuePairs<String, JSON> = [:]) -> JSON {
        var claims: [JSON.Member] = [
            .init("iss", .string(Self.name)), .init("sub", "kari"), .init("aud", "http://spindle.test/oauth/token"),
            .init("exp", .integer(world.server.clock.now.seconds + 300)),
            .init("jti", .string(Base64URL.encode(SystemRandom().bytes(8)))),
        ]
        for (name, value) in changes {
            claims.removeAll { $0.name == name }
            if value != .null { claims.append(.init(name, value)) }
        }
        return .object(claims)
    }

    private func sign(_ claims: JSON, header: JSON = ["alg": "HS256"], secret: String = IssuerAssertionTests.secret)
        -> String
    {
        let signed = [header, claims].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        return signed + "." + Base64URL.encode(Digest.hmacSHA256(Array(signed.utf8), key: Array(secret.utf8)))
    }

    private func present(_ world: World, _ claims: JSON, as client: World.Actor? = nil) async throws -> Answer {
        try await present(world, assertion: sign(claims), as: client)
    }

    private func present(_ world: World, assertion: String, as client: World.Actor? = nil) async throws -> Answer {
        try await world.token(
            ["grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion],
            as: client ?? world.backend)
    }
}
