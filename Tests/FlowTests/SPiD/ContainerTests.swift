import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("SPiD's response container: the order of checks, errors, and signatures") struct ContainerTests {
    @Test(
        "A code is bought and redeemed through SPiD's API, whose container names the route",
        arguments: Backend.available)
    func exchange(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn().require("access_token")
            let bought = try await world.api(
                "oauth/exchange", phone, ["clientId": world.backend.id, "client_id": world.backend.id, "type": "code"])
            #expect(bought.status == 200)
            #expect(bought.json["name"] == "SPP Container" && bought.json["version"] == "0.2")
            #expect(bought.json["object"] == "Authorization" && bought.json["type"] == "element")
            #expect(bought.json["code"] == 200 && bought.json["error"] == .null && bought.json["meta"] == .null)
            #expect(
                bought.json["debug"] == [
                    "route": [
                        "name": "Exchange", "url": "/api/2/oauth/exchange",
                        "controller": "Api/2/Authorization.exchange",
                    ], "params": ["options": [], "where": []],
                ])
            #expect(bought.json["request"]?["limit"] == 36_000)
            #expect(bought.json["request"]?["remaining"] == 35_999)
            let code = try #require(bought.data["code"]?.string)
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test("SPiD's API checks endpoint, token, kind of token, allowance and right in that order")
    func order() async throws {
        try await World.with(.sqlite, settings: ["api_limit": "30"]) { world in
            let nowhere = try await world.api("nowhere", nil)
            #expect(nowhere.status == 404 && nowhere.json["error"]?["type"] == "ApiException")

            let noToken = try await world.api("oauth/exchange", nil, ["type": "code"])
            #expect(noToken.status == 401 && noToken.json["error"] == "invalid_token")
            #expect(noToken.json["type"] == "OAuthException" && noToken.json["error_code"] == 401)
            #expect(noToken.json["error_description"]?.string?.contains("no token passed") == true)

            let clientsOwn = try await world.api(
                "oauth/exchange", try await world.clientToken(world.backend), ["a": "b"])
            #expect(clientsOwn.status == 401)

            let phone = try await world.signIn().require("access_token")
            for remaining: JSON in [2, 1, 0] {
                let answer = try await world.api("oauth/exchange", phone, ["clientId": "unknown", "type": "code"])
                #expect(answer.status == 403 && answer.json["request"]?["remaining"] == remaining)
            }
            let over = try await world.api("oauth/exchange", phone, ["clientId": "unknown", "type": "code"])
            #expect(over.status == 420 && over.json["code"] == 420 && over.json["data"] == .null)
            #expect(over.json["request"]?["remaining"] == 0)
            world.server.clock.advance(by: .hours(1))
            let later = try await world.signIn().require("access_token")
            #expect(
                try await world.api("oauth/exchange", later, ["clientId": "unknown", "type": "code"]).status == 403)
        }
    }

    @Test("SPiD's API answers expired_token to an expired token, deleted or not, and invalid_token to an unknown one")
    func expired() async throws {
        try await World.with(.sqlite) { world in
            let phone = try await world.signIn().require("access_token")
            world.server.clock.advance(by: .hours(1))
            let expired = try await world.api("oauth/exchange", phone, ["type": "code"])
            #expect(expired.status == 401 && expired.json["error"] == "expired_token")
            // Expired tokens are deleted, and apps show them after days.
            try await world.server.database.write { db in _ = try db.execute("DELETE FROM access_tokens") }
            let deleted = try await world.api("oauth/exchange", phone, ["type": "code"])
            #expect(deleted.status == 401 && deleted.json["error"] == "expired_token")
            let revoked = try await world.signIn().require("access_token")
            try await world.server.database.write { db in _ = try db.execute("DELETE FROM access_tokens") }
            for token in ["unknown", revoked] {
                let unknown = try await world.api("oauth/exchange", token, ["type": "code"])
                #expect(unknown.status == 401 && unknown.json["error"] == "invalid_token")
            }
        }
    }
}
