import Cryptography
import JSON
import TestSupport
import Testing
import Values

@Suite("The sp_id, by which a paywall knows a user")
struct PaywallIDTests {
    private static let origin = "https://www.loom.example"

    @Test(
        "hasSession, the session service and SPiD's API give an sp_id that the client's sign secret verifies",
        arguments: Backend.available)
    func given(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (spid, secret) = try await client(world)
            let browser = try await connected(world, spid)
            let now = world.server.clock.now.seconds
            let token = try await world.clientToken(spid)
            let answers = [
                try await script(world, spid, browser),
                try await world.server.get(
                    "/v2/session?client_id=\(spid.id)", cookies: browser.cookies, headers: ["Origin": Self.origin]
                ).json["sp_id"]?.string,
                try await world.api("user/\(world.user)/varnishId", token).data["sp_id"]?.string,
            ]
            for answer in answers {
                let claims = try verified(try #require(answer), secret)
                #expect(claims["aud"]?.string == spid.id && claims["iss"] == nil)
                #expect(claims["exp"]?.integer == now + 7 * 86400 && claims["iat"]?.integer == now)
                let uuid = try await world.api("user/\(world.user)", token).data["uuid"]?.string
                #expect(claims["sub"]?.string == uuid)
            }
        }
    }

    @Test("An sp_id is given only for a connected user, and only to a SPiD-compatible client")
    func withheld() async throws {
        try await World.with(.sqlite) { world in
            let (spid, _) = try await client(world)
            var stranger = Browser(world.server)
            try await stranger.signIn()
            #expect(try await script(world, spid, stranger) == nil)
            #expect(try await script(world, spid, Browser(world.server)) == nil)
            let rival = try await world.spidBackend(of: world.rival)
            let refused = try await world.api("user/\(world.user)/varnishId", try await world.clientToken(rival))
            #expect(refused.status == 403)
            let own = try await world.signIn(with: spid).require("access_token")
            #expect(try await world.api("user/\(world.user)/varnishId", own).status == 200)
            let bob = try await world.person("bob@example.com")
            #expect(try await world.api("user/\(bob)/varnishId", own).status == 403)

            // The merchant's other client is not SPiD-compatible.
            let phone = try await world.signIn().require("access_token")
            #expect(try await world.api("user/\(world.user)/varnishId", phone).status == 403)
        }
    }

    @Test("SPiD's API gives no sp_id for a blocked user", arguments: Backend.available)
    func blocked(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (spid, _) = try await client(world)
            #expect(try await world.signIn(with: spid).status == 200)
            let token = try await world.clientToken(spid)
            let path = "user/\(world.user)"
            #expect(try await world.api("\(path)/varnishId", token).data["sp_id"] != nil)
            #expect(try await world.change("users", world.user, ["disabled": true]).status == 200)
            #expect(try await world.api(path, token).data["status"] == -2)
            let refused = try await world.api("\(path)/varnishId", token)
            #expect(refused.status == 403 && refused.spidError == "The user is blocked.", "\(refused)")
            #expect(try await world.change("users", world.user, ["disabled": false]).status == 200)
            #expect(try await world.api("\(path)/varnishId", token).status == 200)
        }
    }

    private func client(
        _ world: World
    ) async throws -> (World.Actor, secret: String) {
        let members: [JSON.Member] =
            [
                .init("client_name", "Loom behind a paywall"), .init("merchant_id", .string(world.merchant)),
                .init("redirect_uris", ["https://backend.example/callback"]), .init("spid_compatible", true),
                .init("grant_types", ["authorization_code", "refresh_token", "client_credentials", "password"]),
                .init("scope", "profile email"), .init("web_origins", [.string(Self.origin)]),
                .init("require_pkce", false),
            ]
        let made = try await World.make(world.server, world.admin, "clients", .object(members))
        let actor = World.Actor(
            id: try made.require("client_id"), secret: try made.require("client_secret"),
            redirectURI: "https://backend.example/callback")
        return (actor, try made.require("sign_secret"))
    }

    private func connected(_ world: World, _ client: World.Actor) async throws -> Browser {
        var browser = Browser(world.server)
        try await browser.signIn()
        let code = try await browser.open(world.authorizeAddress(for: client)).requireRedirected("code")
        #expect(try await world.redeemAuthorization(code, as: client).status == 200)
        return browser
    }

    /// `sp_id` in the answer of hasSession.
    private func script(_ world: World, _ client: World.Actor, _ browser: Browser) async throws -> String? {
        let answer = try await world.server.get(
            "/ajax/hasSession.js?callback=f&client_id=\(client.id)", cookies: browser.cookies,
            headers: ["Origin": Self.origin])
        return answer.body.firstMatch(of: /"sp_id":"([^"]+)"/).map { String($0.output.1) }
    }

    private func verified(_ jwt: String, _ secret: String) throws -> JSON {
        let parts = jwt.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let signature = Digest.hmacSHA256(Array("\(parts[0]).\(parts[1])".utf8), key: Array(secret.utf8))
        #expect(Base64URL.encode(signature) == parts[2])
        let header = try JSON(parsing: try #require(Base64URL.decode(parts[0])))
        #expect(header["alg"]?.string == "HS256" && header["typ"]?.string == "sp_id+jwt")
        return try JSON(parsing: try #require(Base64URL.decode(parts[1])))
    }
}
