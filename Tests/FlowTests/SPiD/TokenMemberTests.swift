import Cryptography
import JSON
import TestSupport
import Testing
import Values

@Suite("SPiD's clients get the members that SPiD's SDKs require, by every grant, and other clients do not")
struct TokenMemberTests {
    private static let rfc = ["access_token", "token_type", "expires_in", "scope", "refresh_token", "user_id"]
    private static let spid = rfc + ["is_admin", "server_time"]

    @Test("A password grant's answer has SPiD's members for SPiD's clients only", arguments: Backend.available)
    func person(backend: Backend) async throws {
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
        "An authorization code grant's answer has SPiD's members for SPiD's clients only", arguments: Backend.available)
    func authorized(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (client, members) in [(try await world.spidBackend(), Self.spid), (world.backend, Self.rfc)] {
                let code = try await world.authorizationCode(for: client)
                let answer = try await world.redeemAuthorization(code, as: client)
                #expect(answer.status == 200, "\(answer)")
                expectPerson(answer, members, of: world)
            }
        }
    }

    @Test(
        "Tokens and codes are texts of letters, digits, - and _, longer than SPiD's forty",
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

    @Test("A jwt-bearer grant's answer has SPiD's members for SPiD's clients only", arguments: Backend.available)
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
                expectPerson(answer, members)
            }
        }
    }

    private func expectPerson(_ answer: Answer, _ members: [String], of world: World? = nil) {
        #expect(answer.json.members?.map(\.name) == members)
        #expect(answer.json["user_id"]?.string != nil)
        if let world { #expect(answer.json["user_id"]?.string == world.user) }
        #expect(answer.json["token_type"] == "Bearer" && answer.json["scope"] == "profile email")
        #expect(answer.json["is_admin"] == (members == Self.spid ? false : nil))
        #expect((answer.json["server_time"] != nil) == (members == Self.spid))
    }

    @Test(
        "A client credentials grant's answer has SPiD's members for SPiD's clients only", arguments: Backend.available)
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

    @Test("An empty scope is sent to SPiD's clients as an empty string", arguments: Backend.available)
    func emptyScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["scope": ""])
            #expect(try await world.signIn(with: spid).json["scope"] == "")
            let strict = try await world.confidential(["scope": ""])
            #expect(try await world.signIn(with: strict).json["scope"] == nil)
        }
    }
}
