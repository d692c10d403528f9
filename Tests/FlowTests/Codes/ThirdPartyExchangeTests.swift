import JSON
import TestSupport
import Testing

@Suite("An exchange gives a client nothing that needs the user's consent")
struct ThirdPartyExchangeTests {
    @Test(
        "A first-party client's token buys no code for a third party that the user never allowed",
        arguments: Backend.available)
    func receiver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.confidential(["first_party": false])
            let registered = try await world.register().actor
            let token = try await world.signIn().require("access_token")
            for receiver in [stranger, registered] {
                let refused = try await world.exchange(token, for: receiver)
                try await expect(403, "access_denied", refused)
                #expect(refused.json["code"] == nil)
                #expect(refused.json["error_description"]?.string?.contains("/oauth/authorize") == true)
                let inSPiD = try await world.api("oauth/exchange", token, ["clientId": receiver.id, "type": "code"])
                #expect(inSPiD.status == 403 && inSPiD.data == .null)
                #expect(inSPiD.spidError?.string?.contains("/oauth/authorize") == true)
            }
            try await world.change("clients", stranger.id, ["first_party": true])
            world.server.clock.advance(by: .seconds(1))
            #expect(try await world.exchange(token, for: stranger).status == 200)
        }
    }

    @Test(
        "A code is refused after its receiver, or the client whose token bought it, became a third party's",
        arguments: Backend.available)
    func changedMeanwhile(backend: Backend) async throws {
        try await World.with(backend) { world in
            let backends = try await [world.confidential([:]), world.confidential([:])]
            let token = try await world.signIn().require("access_token")
            let codes = try await [
                world.exchange(token, for: backends[0]).require("code"),
                world.exchange(token, for: backends[1]).require("code"),
            ]
            let session = try await world.sessionCode(of: world.signIn())
            try await world.change("clients", backends[0].id, ["first_party": false])
            world.server.clock.advance(by: .seconds(1))
            #expect(try await world.redeem(codes[0], as: backends[0]).error == "invalid_grant")
            try await world.change("clients", world.app.id, ["first_party": false])
            world.server.clock.advance(by: .seconds(1))
            #expect(try await world.redeem(codes[1], as: backends[1]).error == "invalid_grant")
            #expect(try await world.server.get("/auth/session/\(session)").status == 410)
        }
    }

    @Test(
        "A SPiD-compatible third party's exchange is refused with an error in SPiD's format",
        arguments: Backend.available)
    func buyer(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.spidBackend(["first_party": false])
            let token = try await world.signIn(with: stranger).require("access_token")
            for type in ["code", "session"] {
                let refused = try await world.api(
                    "oauth/exchange", token,
                    ["clientId": world.backend.id, "type": type, "redirectUri": world.backend.redirectURI])
                #expect(refused.status == 403 && refused.data == .null)
                #expect(refused.json["error"]?["type"] == "ApiException")
                #expect(refused.spidError?.string?.contains("first-party") == true)
            }
        }
    }

    @Test(
        "An access token of the front channel buys neither codes nor sessions", arguments: Backend.available,
        ["token", "id_token token", "code token"])
    func frontChannel(backend: Backend, type: String) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: type)
            let token = try (try await party.authorize()).require("access_token")
            #expect(try await world.isLive(token))
            let code = try await world.exchange(token, for: world.backend)
            let session = try await world.exchange(
                token, for: world.app, type: "session", redirectURI: World.webview)
            for refused in [code, session] {
                try await expect(403, "access_denied", refused)
                #expect(refused.json["code"] == nil)
            }
            let inSPiD = try await world.api("oauth/exchange", token, ["clientId": world.backend.id, "type": "code"])
            #expect(inSPiD.status == 403 && inSPiD.data == .null)
        }
    }

    @Test(
        "A SPiD-compatible client may let its front-channel tokens buy codes, but never sessions",
        arguments: Backend.available)
    func allowed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend([
                "response_types": ["token"], "grant_types": ["implicit", "authorization_code"],
            ])
            var browser = Browser(world.server)
            let back = try await world.authorize(in: &browser, ["response_type": "token"], for: client)
            let fragment = try #require(back.header("location")?.split(separator: "#").last)
            let pair = try #require(fragment.split(separator: "&").first { $0.hasPrefix("access_token=") })
            let token = String(pair.dropFirst("access_token=".count))
            func buy(_ receiver: World.Actor, _ type: String) async throws -> Answer {
                try await world.api(
                    "oauth/exchange", token,
                    ["clientId": receiver.id, "type": type, "redirectUri": receiver.redirectURI])
            }
            for type in ["code", "session"] { #expect(try await buy(client, type).status == 403) }
            let set = try await world.change("clients", client.id, ["exchange_front_channel_tokens": true])
            try #require(set.status == 200)
            let bought = try await buy(world.backend, "code")
            #expect(bought.status == 200)
            let code = try #require(bought.data["code"]?.string)
            #expect(try await world.redeem(code, as: world.backend).status == 200)
            for receiver in [client, world.backend] {
                let refused = try await buy(receiver, "session")
                #expect(refused.status == 403 && refused.spidError?.string?.contains("buys no sessions") == true)
            }
            #expect(try await buy(world.rivalBackend, "code").status == 403)
            // It ends with the setting, and with the client's being SPiD-compatible.
            _ = try await world.change("clients", client.id, ["exchange_front_channel_tokens": false])
            #expect(try await buy(world.backend, "code").status == 403)
            _ = try await world.change("clients", client.id, ["exchange_front_channel_tokens": true])
            #expect(try await buy(world.backend, "code").status == 200)
            _ = try await world.change("clients", client.id, ["spid_compatible": false])
            let plain = try await world.exchange(token, for: world.backend)
            try await expect(403, "access_denied", plain)
        }
    }

    @Test(
        "An access token redeemed with the code of a hybrid flow's answer can buy exchange codes",
        arguments: Backend.available)
    func hybrid(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: "code token")
            let code = try (try await party.authorize()).require("code")
            let token = try (try await party.redeem(code)).require("access_token")
            #expect(try await world.exchange(token, for: world.backend).status == 200)
        }
    }
}
