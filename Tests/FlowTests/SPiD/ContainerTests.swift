import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("SPiD's response container: the order of checks, errors, and signatures") struct ContainerTests {
    @Test(
        "A code can be bought through SPiD's API, whose container names the route that was called",
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

    @Test("SPiD's API checks endpoint, token, kind of token, allowance and permission, in that order")
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

    @Test("SPiD's API calls an expired token expired_token, even if deleted, and an unknown one invalid_token")
    func expired() async throws {
        try await World.with(.sqlite) { world in
            let phone = try await world.signIn().require("access_token")
            world.server.clock.advance(by: .hours(1))
            let expired = try await world.api("oauth/exchange", phone, ["type": "code"])
            #expect(expired.status == 401 && expired.json["error"] == "expired_token")
            // Expired tokens are deleted, but apps still send them days later.
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

    @Test(
        "A refused exchange of a token for a code has SPiD's error in SPiD's API, and OAuth's elsewhere",
        arguments: Backend.available)
    func texts(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let bare = try await world.confidential(["redirect_uris": [], "grant_types": ["client_credentials"]])
            let own = world.backend.id
            let refusals: [(KeyValuePairs<String, String>, Int, String)] = [
                (["type": "code"], 400, "Required client ID missing"),
                (["clientId": "", "type": "code"], 400, "Required client ID missing"),
                (["clientId": own], 400, "Request must contain a valid exchange type"),
                (["clientId": own, "type": "token"], 400, "Request must contain a valid exchange type"),
                (["clientId": own, "type": "session"], 400, "Type session: Missing redirect URI"),
                (
                    ["clientId": bare.id, "type": "code"], 400,
                    "Type code: Client to exchange token with is missing a default redirect"
                ),
                (
                    ["clientId": world.rivalBackend.id, "type": "code"], 403,
                    "Provided client ID does not belong to the current merchant"
                ),
                (
                    ["clientId": "nobody", "type": "code"], 403,
                    "Provided client ID does not belong to the current merchant"
                ),
            ]
            for (form, status, text) in refusals {
                let refused = try await world.api("oauth/exchange", token, form)
                #expect(refused.status == status && refused.json["code"] == .integer(Int64(status)), "\(text)")
                #expect(refused.spidError == .string(text))
                // Elsewhere the error is OAuth's own.
                let plain = try await world.server.post("/oauth/exchange", form, bearer: token)
                #expect(plain.status != 200 && plain.json["error_description"] != .string(text))
            }
            let bought = try await world.api("oauth/exchange", token, ["client_id": own, "type": "code"])
            #expect(bought.status == 200)
        }
    }

    // MARK: Signatures

    /// A SPiD backend, with its sign secret, which is shown only once.
    private func backend(_ world: World, signed: Bool) async throws -> (token: String, signSecret: String) {
        let made = try await world.server.send(
            "POST", "/admin/v1/clients",
            json: [
                "merchant_id": .string(world.merchant), "client_name": "Signing", "spid_compatible": true,
                "grant_types": ["client_credentials", "refresh_token"], "scope": "email",
                "signed_responses": .bool(signed),
            ], bearer: world.admin)
        let client = World.Actor(
            id: try made.require("client_id"), secret: try made.require("client_secret"), redirectURI: "")
        return (try await world.clientToken(client), try made.require("sign_secret"))
    }

    private func signature(of text: String, _ secret: String) -> String {
        Base64URL.encode(Digest.hmacSHA256(Array(text.utf8), key: Array(secret.utf8)))
    }

    @Test(
        "The sig of SPiD's container is the HMAC of its data as sent, keyed by the client's sign secret",
        arguments: Backend.available)
    func signed(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (token, secret) = try await self.backend(world, signed: true)
            let answer = try await world.api("client/\(world.app.id)", token)
            #expect(answer.status == 200 && answer.json["algorithm"] == "HMAC-SHA256")
            let data = try #require(answer.data.string)
            #expect(answer.json["sig"]?.string == signature(of: data, secret))
            #expect(!data.contains("=") && !data.contains("+") && !data.contains("/"))
            let plain = try JSON(parsing: try #require(Base64URL.decode(data)))
            #expect(plain["id"] == .string(world.app.id) && plain["fields"] == .object([]))

            // A refusal has no data to sign, and an answer without a token has no client to sign for.
            let refused = try await world.api("client/unknown", token)
            #expect(refused.status == 404 && refused.data == .null)
            #expect(refused.json["sig"] == nil && refused.json["algorithm"] == nil)
            #expect(try await world.api("version", token).json["sig"] == nil)
        }
    }

    @Test(
        "SPiD's API signs a client's answers only while its signed_responses is on, at once after a change",
        arguments: Backend.available)
    func unsigned(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (token, secret) = try await self.backend(world, signed: false)
            let before = try await world.api("clients", token)
            #expect(before.data.members != nil && before.json["sig"] == nil && before.json["algorithm"] == nil)
            let id = try #require(before.data.members?.first { $0.value["name"] == "Signing" }?.name)
            try await world.change("clients", id, ["signed_responses": true])
            let after = try await world.api("clients", token)
            #expect(after.json["sig"]?.string == signature(of: try #require(after.data.string), secret))
            try await world.change("clients", id, ["signed_responses": false])
            #expect(try await world.api("clients", token).json["sig"] == nil)
        }
    }

    @Test("SPiD's API refuses a form whose parameter hash does not match its values, however the token is sent")
    func hash() async throws {
        try await World.with(.sqlite) { world in
            let (token, secret) = try await backend(world, signed: false)
            _ = try await world.signIn()
            let path = "user/\(world.user)/agreements/accept"
            let good = signature(of: "21ten", secret)
            let form: KeyValuePairs<String, String> = ["b10": "ten", "b9[y]": "1", "b9[x]": "2", "hash": good]
            #expect(try await world.api(path, token, form).status == 200)
            #expect(try await world.api("\(path)?oauth_token=\(token)&method=POST", nil, form).status == 200)
            let inBody = form.map { ($0.key, $0.value) } + [("oauth_token", token)]
            #expect(try await world.server.post("/api/2/" + path, form: inBody).status == 200)
            let changed = try await world.api(path, token, ["b10": "eleven", "b9[y]": "1", "b9[x]": "2", "hash": good])
            #expect(changed.status == 400 && changed.json["error"]?["type"] == "ApiException")
            #expect(try await world.api(path, token, ["b10": "ten", "hash": "x"]).status == 400)
            #expect(try await world.api(path, token, ["hash": signature(of: "", secret)]).status == 200)
        }
    }
}
