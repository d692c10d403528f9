import Cryptography
import JSON
import OAuth
import TestSupport
import Testing
import Values

/// core-sdk-node calls the API with its client's id and secret, and introspects with the client's own token.
@Suite("SPiD's backends may prove themselves by secret at the API, and by token at introspection")
struct ClientProofTests {
    private func api(_ world: World, _ path: String, _ client: World.Actor) async throws -> Answer {
        let pair = Base64.encode(Array("\(client.id):\(client.secret)".utf8))
        return try await world.server.get("/api/2/" + path, headers: ["Authorization": "Basic " + pair])
    }

    @Test(
        "SPiD's API gives a client that sends its secret the same answers as for the client's own token",
        arguments: Backend.available)
    func secret(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            for path in ["user/\(world.user)", "users", "clients", "logins", "user/\(world.user)/agreements"] {
                let byToken = try await world.api(path, token)
                let bySecret = try await api(world, path, loom)
                #expect(bySecret.status == 200 && bySecret.data == byToken.data, "\(path)")
            }
            // A write checks the client's right again in its transaction.
            let made = try await world.server.post(
                "/api/2/signup", ["email": "grace@example.com", "password": "a quiet difference"], basic: loom.basic)
            #expect(made.status == 201)
            // Each call takes from the client's allowance.
            let (first, second) = (try await api(world, "clients", loom), try await api(world, "clients", loom))
            let left = first.json["request"]?["remaining"]?.integer ?? 0
            #expect(second.json["request"]?["remaining"]?.integer == left - 1)
        }
    }

    @Test(
        "A client's secret neither counts as a user's token in SPiD's API nor signs a token out",
        arguments: Backend.available)
    func limits(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            for path in ["me", "logout"] {
                let refused = try await api(world, path, loom)
                #expect(refused.status == 401 && refused.json["error"] == "invalid_token", "\(path)")
            }
            let exchange = try await world.server.post(
                "/api/2/oauth/exchange", ["clientId": loom.id, "type": "code"], basic: loom.basic)
            #expect(exchange.status == 401)
            // A token beside the secret counts.
            let user = try await world.signIn(with: loom).require("access_token")
            let me = try await api(world, "me?oauth_token=\(user)", loom)
            #expect(me.status == 200 && me.data["userId"] == .string(world.user))
        }
    }

    @Test(
        "A wrong secret, a disabled client and a client without SPiD compatibility are refused at SPiD's API",
        arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let wrong = try await api(world, "clients", loom.with(secret: "a guess"))
            #expect(wrong.status == 401 && wrong.json["name"] == "SPP Container")
            #expect(wrong.header("www-authenticate") == "Basic realm=\"spindle\"")
            // The secrets of these clients are not read; the answer is the one without a secret.
            let user = try await world.spidBackend(["grant_types": ["authorization_code"]])
            let app = try await world.confidential([
                "spid_compatible": true, "token_endpoint_auth_method": "none",
                "grant_types": ["authorization_code"],
            ])
            let strangers = [
                world.backend, world.backend.with(secret: "a guess"), user, app.with(secret: ""),
                World.Actor(id: "nobody", secret: "a guess", redirectURI: ""),
            ]
            let none = try await world.api("clients", nil)
            for stranger in strangers {
                let answer = try await api(world, "clients", stranger)
                #expect(answer.status == 401 && answer.body == none.body, "\(answer)")
                #expect(answer.header("www-authenticate") == none.header("www-authenticate"))
            }
            try await world.change("clients", loom.id, ["disabled": true])
            #expect(try await api(world, "clients", loom).status == 401)
            for broken in ["Basic", "Basic %", "Basic Og==", "Basic " + String(repeating: "A", count: 4000)] {
                let answer = try await world.server.get("/api/2/clients", headers: ["Authorization": broken])
                #expect(answer.status == 401 && answer.body == none.body, "\(broken.prefix(20))")
            }
        }
    }

    @Test(
        "A SPiD-compatible client may introspect with its own token instead of its secret",
        arguments: Backend.available)
    func introspection(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let own = try await world.clientToken(loom)
            let phone = try await world.signIn().require("access_token")
            func introspect(_ token: String, by bearer: String, _ more: KeyValuePairs<String, String> = [:])
                async throws
                -> Answer
            {
                try await world.server.post(
                    "/oauth/introspect", form: [("token", token)] + more.map { ($0.key, $0.value) }, bearer: bearer)
            }
            let told = try await introspect(phone, by: own)
            let bySecret = try await world.introspect(phone, as: loom)
            #expect(told.status == 200 && told.json == bySecret.json)
            #expect(told.json["active"] == true && told.json["sub"] == .string(world.user))
            #expect(try await introspect(phone, by: own, ["client_id": loom.id]).json["active"] == true)
            // As with the secret, another merchant's tokens are inactive.
            let foreign = try await world.signIn(with: world.rivalBackend, as: World.email)
            let rival = try await introspect(foreign.json["access_token"]?.string ?? "x", by: own)
            #expect(rival.status == 200 && rival.json == ["active": false])

            for (bearer, error) in [
                (phone, "invalid_client"), (try await world.clientToken(world.backend), "invalid_client"),
                (try await world.signIn(with: loom).require("access_token"), "invalid_client"),
                ("unknown", "invalid_token"),
            ] {
                let refused = try await introspect(phone, by: bearer)
                #expect(refused.status == 401 && refused.error == error, "\(refused)")
            }
            #expect(try await introspect(phone, by: own, ["client_id": world.backend.id]).status == 400)
            // Client credentials in the form count before the bearer token.
            let both = try await introspect(
                phone, by: "unknown", ["client_id": world.backend.id, "client_secret": world.backend.secret])
            #expect(both.status == 200 && both.json["active"] == true)
            world.server.clock.advance(by: .hours(1))
            let expired = try await introspect(phone, by: own)
            #expect(expired.status == 401 && expired.error == "expired_token")
        }
    }
}
