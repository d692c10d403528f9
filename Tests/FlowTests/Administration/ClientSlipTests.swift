import JSON
import TestSupport
import Testing

@Suite("A slip in administration is refused where it is made")
struct ClientSlipTests {
    private func create(_ world: World, _ members: [String: JSON]) async throws -> Answer {
        let all = members.merging(["merchant_id": .string(world.merchant), "client_name": "New"]) { one, _ in one }
        return try await world.server.send(
            "POST", "/admin/v1/clients", json: .object(all.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }),
            bearer: world.admin)
    }

    @Test("The refusal of a misspelt member names the right one", arguments: Backend.available)
    func misspelt(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (path, member, meant) in [
                ("clients", "redirect_uri", "redirect_uris"), ("clients", "client_nmae", "client_name"),
                ("clients", "access_token_livetime", "access_token_lifetime"), ("users", "emial", "email"),
                ("merchants", "nane", "name"), ("clients", "surplus", nil), ("users", "user_id", nil),
            ] {
                let answer = try await world.server.send(
                    "POST", "/admin/v1/\(path)", json: .object([.init(member, "x")]), bearer: world.admin)
                expectProblem(answer, 400, member: member)
                #expect(answer.json["did_you_mean"]?.string == meant, "\(answer)")
            }
            // What was read is sent back: the misspelt one is named before those that are read-only.
            let both = try await world.server.send(
                "PATCH", "/admin/v1/clients/\(world.app.id)",
                json: ["client_id": "x", "created_at": 1, "client_nam": "x"], bearer: world.admin)
            expectProblem(both, 400, member: "client_nam")
            #expect(
                both.json["detail"]?.string
                    == "There is no member 'client_nam' here: did you mean 'client_name'? Leave out what is unknown or "
                    + "read-only: client_id, created_at.")
        }
    }

    @Test(
        "A new client that may use authorization codes has the scope of a sign-in, unless its document says another",
        arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let uris: JSON = ["https://new.example/cb"]
            for (members, scope): ([String: JSON], String) in [
                ([:], "openid profile email"),
                (["grant_types": ["authorization_code", "refresh_token"]], "openid profile email offline_access"),
                (["scope": ""], ""), (["scope": "email"], "email"), (["spid_compatible": true], ""),
                (["grant_types": ["client_credentials"], "redirect_uris": []], ""),
            ] {
                let made = try await create(world, members.merging(["redirect_uris": uris]) { one, _ in one })
                #expect(made.status == 201 && made.json["scope"]?.string == scope, "\(made)")
            }
        }
    }

    @Test(
        "A client whose settings cannot work is refused, and told what was probably meant", arguments: Backend.available
    )
    func slips(backend: Backend) async throws {
        try await World.with(backend) { world in
            let uris: JSON = ["https://new.example/cb"]
            for (member, value, hint): (String, JSON, String) in [
                ("redirect_uris", ["localhost:3000/cb"], "did you mean http://localhost:3000/cb?"),
                ("redirect_uris", ["app.example/cb"], "did you mean https://app.example/cb?"),
                ("redirect_uris", ["https://*.app.example/cb"], "without wildcards"),
                ("redirect_uris", [], "given for a client with the grant type authorization_code"),
                ("scope", "openid,profile", "without commas"),
            ] {
                let answer = try await create(world, ["redirect_uris": uris].merging([member: value]) { $1 })
                expectProblem(answer, 400, member: member)
                #expect(answer.json["detail"]?.string?.contains(hint) == true, "\(answer)")
            }
            let long = try await create(
                world,
                [
                    "redirect_uris": uris, "access_token_lifetime": 1_000_000,
                    "grant_types": ["authorization_code", "refresh_token"],
                ])
            expectProblem(long, 400, member: "access_token_lifetime")
            #expect(long.json["detail"]?.string?.contains("at most 86400") == true)
            // Its tokens cannot be renewed, and live as long.
            let lasting = try await create(world, ["redirect_uris": uris, "access_token_lifetime": 1_000_000])
            #expect(lasting.json["access_token_lifetime"]?.integer == 1_000_000)
            // A private-use scheme has no port.
            #expect(try await create(world, ["redirect_uris": ["com.example.app:/cb"]]).status == 201)
        }
    }

    @Test("Clients are found by their whole name, of all merchants and of one", arguments: Backend.available)
    func name(backend: Backend) async throws {
        try await World.with(backend) { world async throws -> Void in
            func found(_ query: String) async throws -> [String] {
                let answer = try await world.server.get("/admin/v1/clients?\(query)", bearer: world.admin)
                return answer.json["items"]?.array?.compactMap { $0["client_id"]?.string } ?? []
            }
            #expect(try await found("client_name=Loom%20for%20phones") == [world.app.id])
            #expect(try await found("client_name=Loom%20for%20phones&merchant_id=\(world.merchant)") == [world.app.id])
            #expect(try await found("client_name=Loom%20for%20phones&merchant_id=\(world.rival)") == [])
            #expect(try await found("client_name=Loom") == [])
        }
    }
}
