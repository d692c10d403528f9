import JSON
import TestSupport
import Testing
import Values

@Suite("The allowance of calls of SPiD's API") struct AllowanceTests {
    @Test("One user's calls of SPiD's API do not use up those of the client's other users or its backend")
    func users() async throws {
        try await World.with(.sqlite, settings: ["api_limit": "50"]) { world in
            let own = try await world.spidBackend()
            _ = try await world.person("bob@example.com")
            let phone = try await world.signIn(with: own).require("access_token")
            let again = try await world.signIn(with: own).require("access_token")
            let other = try await world.signIn(with: own, as: "bob@example.com").require("access_token")
            let backend = try await world.clientToken(own)
            for remaining: JSON in [4, 3, 2, 1, 0] {
                let answer = try await world.api("me", phone)
                #expect(answer.status == 200 && answer.json["request"]?["remaining"] == remaining)
                #expect(answer.json["request"]?["limit"] == 5)
            }
            for token in [phone, again, phone] { #expect(try await world.api("me", token).status == 420) }
            let others = try await world.api("me", other)
            #expect(others.status == 200 && others.json["request"]?["remaining"] == 3)
            // Six calls were answered before this one.
            let backends = try await world.api("clients", backend)
            #expect(backends.status == 200 && backends.json["request"]?["limit"] == 50)
            #expect(backends.json["request"]?["remaining"] == 43)
            world.server.clock.advance(by: .hours(1))
            let later = try await world.signIn(with: own).require("access_token")
            #expect(try await world.api("me", later).json["request"]?["remaining"] == 4)
        }
    }

    @Test("Users and backend together cannot exceed the client's allowance of calls of SPiD's API")
    func together() async throws {
        try await World.with(.sqlite, settings: ["api_limit": "10"]) { world in
            let own = try await world.spidBackend()
            let backend = try await world.clientToken(own)
            let phone = try await world.signIn(with: own).require("access_token")
            for _ in 1...10 { #expect(try await world.api("clients", backend).status == 200) }
            #expect(try await world.api("clients", backend).status == 420)
            let refused = try await world.api("me", phone)
            #expect(refused.status == 420 && refused.json["request"]?["remaining"] == 0)
        }
    }

    @Test("Calls of SPiD's API with an app's secret are limited per IP address, and use up no users' calls")
    func app() async throws {
        try await World.with(.sqlite, settings: ["api_limit": "50", "trusted_proxies": "127.0.0.0/8"]) { world in
            let app = try await world.spidBackend([
                "redirect_uris": ["spid-loom://login"],
                "grant_types": ["password", "refresh_token", "client_credentials"],
            ])
            let phone = try await world.signIn(with: app).require("access_token")
            let own = try await world.clientToken(app)
            func ask(from address: String) async throws -> Int {
                try await world.server.get(
                    "/api/2/products", bearer: own, headers: ["X-Forwarded-For": address]
                ).status
            }
            for number in 1...5 { #expect(try await ask(from: "203.0.113.9") == 200, "\(number)") }
            // More than the client's fifty.
            for number in 6...55 { #expect(try await ask(from: "203.0.113.9") == 420, "\(number)") }
            #expect(try await ask(from: "203.0.113.10") == 200)
            let me = try await world.api("me", phone)
            #expect(me.status == 200 && me.json["request"]?["limit"] == 5, "\(me)")
        }
    }

    @Test(
        "Signing out by SPiD's API is never refused for too many calls, and uses up none", arguments: Backend.available)
    func signOut(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["api_limit": "1"]) { world in
            let phone = try await world.signIn().require("access_token")
            let other = try await world.signIn().require("access_token")
            #expect(try await world.api("logout", other).data == "OK")
            #expect(try await world.api("me", phone).status == 200)
            #expect(try await world.api("me", phone).status == 420)
            let answer = try await world.api("logout", phone)
            #expect(answer.status == 200 && answer.data == "OK" && answer.json["request"]?["remaining"] == 0)
            #expect(try await !world.isLive(phone))
        }
    }
}
