import JSON
import TestSupport
import Testing

@Suite("What a SPiD-compatible client may set for itself")
struct SPiDSettingsTests {
    private static let defaults: KeyValuePairs<String, JSON> = [
        "authorization_response_iss": false, "exchange_front_channel_tokens": false,
        "public_exchange_codes_from": [], "codes_redeemed_twice": false, "required_fields": [],
        "terms_summary": [], "session_hosts": [],
    ]
    private static let others: KeyValuePairs<String, JSON> = [
        "authorization_response_iss": true, "exchange_front_channel_tokens": true, "codes_redeemed_twice": true,
        "required_fields": ["name.given_name", "birthday"], "terms_summary": ["Now with cookies.", "Nå på norsk."],
        "session_hosts": ["id.example.com", "id.example.com:8443"],
    ]

    @Test(
        "A client's SPiD settings have defaults, survive other changes, and are removed with spid_compatible",
        arguments: Backend.available)
    func roundTrip(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend()
            func shown() async throws -> JSON {
                try await world.server.get("/admin/v1/clients/\(client.id)", bearer: world.admin).json
            }
            for (name, value) in Self.defaults { #expect(try await shown()[name] == value, "\(name)") }
            let all = JSON.object(Self.others.map { JSON.Member($0.key, $0.value) })
            #expect(try await world.change("clients", client.id, all).status == 200)
            for (name, value) in Self.others { #expect(try await shown()[name] == value, "\(name)") }
            // Another change leaves them.
            #expect(try await world.change("clients", client.id, ["client_name": "Loom"]).status == 200)
            for (name, value) in Self.others { #expect(try await shown()[name] == value, "\(name)") }

            #expect(try await world.change("clients", client.id, ["spid_compatible": false]).status == 200)
            for (name, _) in Self.others { #expect(try await shown()[name] == nil, "\(name)") }
            #expect(try await world.change("clients", client.id, ["spid_compatible": true]).status == 200)
            for (name, value) in Self.defaults { #expect(try await shown()[name] == value, "\(name)") }
        }
    }

    @Test(
        "SPiD settings are refused for a client that is not SPiD-compatible, and with invalid values",
        arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await World.with(backend) { world in
            let plain = try await world.confidential([:])
            for (name, value) in Self.others {
                let answer = try await world.change("clients", plain.id, .object([.init(name, value)]))
                expectProblem(answer, 400, member: name)
            }
            let client = try await world.spidBackend()
            let bad: [(String, JSON)] = [
                ("authorization_response_iss", "yes"), ("exchange_front_channel_tokens", 1),
                ("required_fields", ["email"]), ("required_fields", "birthday"), ("terms_summary", [""]),
                ("terms_summary", ["a\nb"]), ("terms_summary", .array(Array(repeating: "a", count: 21))),
                ("session_hosts", ["https://id.example.com"]), ("session_hosts", ["ID.example.com"]),
                ("session_hosts", ["id.example.com/x"]), ("session_hosts", ["a@id.example.com"]),
                ("session_hosts", ["id.example.com:443"]), ("session_hosts", ["example"]), ("session_hosts", [""]),
                ("session_hosts", ["*.example.com"]), ("session_hosts", ["id.example.com."]),
            ]
            for (name, value) in bad {
                expectProblem(
                    try await world.change("clients", client.id, .object([.init(name, value)])), 400, member: name)
            }
        }
    }

    @Test(
        "Any client may have a refresh_family_lifetime from a minute to ten years, or while_used",
        arguments: Backend.available)
    func family(backend: Backend) async throws {
        try await World.with(backend) { world in
            func set(_ value: JSON) async throws -> Answer {
                try await world.change("clients", world.app.id, ["refresh_family_lifetime": value])
            }
            #expect(try await set(.null).json["refresh_family_lifetime"] == 31_536_000)
            for value: JSON in [60, 315_360_000, "while_used"] {
                #expect(try await set(value).json["refresh_family_lifetime"] == value)
                let shown = try await world.server.get("/admin/v1/clients/\(world.app.id)", bearer: world.admin)
                #expect(shown.json["refresh_family_lifetime"] == value)
            }
            for value: JSON in [0, 59, 315_360_001, "3600", "for ever", true, ""] {
                expectProblem(try await set(value), 400, member: "refresh_family_lifetime")
            }
        }
    }

    @Test(
        "Web origins with a path are for SPiD-compatible clients only, and count as whole origins for CORS",
        arguments: Backend.available)
    func pages(backend: Backend) async throws {
        try await World.with(backend) { world in
            let path: JSON = ["https://www.loom.example/news", "https://www.loom.example/tv/", "http://localhost:3000"]
            expectProblem(
                try await world.change("clients", world.app.id, ["web_origins": path]), 400, member: "web_origins")
            let client = try await world.spidBackend()
            #expect(try await world.change("clients", client.id, ["web_origins": path]).json["web_origins"] == path)
            for bad in ["https://www.loom.example/", "https://www.loom.example/a/../b", "https://www.loom.example/a?b"]
            {
                let answer = try await world.change("clients", client.id, ["web_origins": [.string(bad)]])
                expectProblem(answer, 400, member: "web_origins")
            }
            expectProblem(
                try await world.change("clients", client.id, ["spid_compatible": false]), 400, member: "web_origins")
            world.server.clock.advance(by: .seconds(61))
            for (origin, isKnown) in [
                ("https://www.loom.example", true), ("http://localhost:3000", true), ("https://loom.example", false),
                ("https://www.loom.example/news", false),
            ] {
                let answer = try await world.server.send(
                    "OPTIONS", "/oauth/token",
                    headers: ["Origin": origin, "Access-Control-Request-Method": "POST"])
                #expect(answer.header("access-control-allow-origin") == (isKnown ? origin : nil))
            }
        }
    }

    @Test(
        "A client's own refresh token works only while the client is SPiD-compatible and has the grant",
        arguments: Backend.available)
    func ownRefresh(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend()
            let refresh = try await world.token(["grant_type": "client_credentials"], as: client).require(
                "refresh_token")
            #expect(try await world.refresh(refresh, as: client).status == 200)
            for change: JSON in [
                ["spid_compatible": false], ["spid_compatible": true, "grant_types": ["refresh_token"]],
            ] {
                try await world.change("clients", client.id, change)
                #expect(try await world.refresh(refresh, as: client).status == 400, "\(change)")
            }
            try await world.change("clients", client.id, ["grant_types": ["refresh_token", "client_credentials"]])
            #expect(try await world.refresh(refresh, as: client).status == 200)
        }
    }
}
