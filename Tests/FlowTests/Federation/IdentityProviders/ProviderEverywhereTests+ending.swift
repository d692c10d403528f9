import JSON
import TestSupport
import Testing

/// How a merchant ends what people sign in with everywhere, and what is the platform's to end.
extension ProviderEverywhereTests {
    @Test(
        "a merchant ends the platform's button, and puts the secret of its own app into its place",
        arguments: Backend.available)
    func secretOfAnother(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantsToken(world)
            let made = try await make(world, Self.facebook, by: world.admin)
            #expect(made.json["signs_in_everywhere"] == true, "\(made)")
            let path = "/admin/v1/issuers/\(try made.require("id"))"
            func change(_ json: JSON, by token: String) async throws -> Answer {
                try await world.server.send("PATCH", path, json: json, bearer: token)
            }
            let theirs: JSON = ["app_secret": "theirs"]
            let both: JSON = ["client_id": .null, "app_secret": "theirs"]
            for json in [theirs, both] { expectProblem(try await change(json, by: token), 403, member: "client_id") }
            let ended = try await change(["client_id": .null], by: token)
            #expect(ended.status == 200 && ended.json["client_id"] == nil, "\(ended)")
            #expect(ended.json["signs_in_everywhere"] == true, "\(ended)")
            expectProblem(try await change(theirs, by: token), 403, member: "client_id")
            #expect(try await change(["signs_in_everywhere": false], by: world.admin).status == 200)
            #expect(try await change(theirs, by: token).status == 200)
        }
    }

    @Test(
        "a merchant deletes the platform's button, with the links of people who have no other way in, or confines it",
        arguments: Backend.available)
    func deletion(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantsToken(world)
            let google: JSON = ["provider": "google", "client_id": "us", "client_secret": "s"]
            func delete(_ id: String, by token: String) async throws -> Answer {
                try await world.server.send("DELETE", "/admin/v1/issuers/\(id)", bearer: token)
            }
            let made = try await make(world, google, by: world.admin)
            #expect(made.json["signs_in_everywhere"] == true, "\(made)")
            let id = try made.require("id")
            try await world.link(id, "kari")
            func change(_ json: JSON) async throws -> Answer {
                try await world.server.send("PATCH", "/admin/v1/issuers/\(id)", json: json, bearer: token)
            }
            func expectKept() async throws {
                expectProblem(try await delete(id, by: token), 403)
                // It would be the merchant's alone then, to be deleted.
                let word: JSON = ["signs_in_everywhere": false]
                expectProblem(try await change(word), 403, member: "signs_in_everywhere")
                expectProblem(try await delete(id, by: token), 403)
            }
            try await expectKept()
            let ended = try await change(["client_id": .null])
            #expect(ended.status == 200 && ended.json["signs_in_everywhere"] == true, "\(ended)")
            try await expectKept()
            #expect(try await world.count("issuer_subjects") == 1)
            #expect(try await delete(id, by: world.admin).status == 204)
            let confined: [(String, JSON)] = [(token, .object([])), (world.admin, ["signs_in_everywhere": false])]
            for (who, more) in confined {
                let other = try await make(world, google, more, by: who)
                #expect(other.json["signs_in_everywhere"] == false, "\(other)")
                #expect(try await delete(try other.require("id"), by: token).status == 204)
            }
        }
    }
}
