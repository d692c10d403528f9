import Cryptography
import JSON
import TestSupport
import Testing

@Suite("Signed answers and signed posts of SPiD's API") struct SignatureTests {
    /// A SPiD backend with its sign secret, which is told once.
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

    @Test("The member sig is the HMAC of data as sent, with the sign secret", arguments: Backend.available)
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

            // A refusal has no data, and so nothing to sign; without a token nobody is known to sign for.
            let refused = try await world.api("client/unknown", token)
            #expect(refused.status == 404 && refused.data == .null)
            #expect(refused.json["sig"] == nil && refused.json["algorithm"] == nil)
            #expect(try await world.api("version", token).json["sig"] == nil)
        }
    }

    @Test(
        "Answers are signed only while signed_responses is on, and a change counts at once",
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

    @Test("A hash that does not match the posted values is refused, however the token is sent")
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
