import JSON
import TestSupport
import Testing

@Suite("SPiD's API searches a client's users")
struct UserSearchTests {
    /// Loom's backend, with Grace and Bea of its own, and Cleo of the app's.
    private func story(
        _ backend: Backend, _ body: (World, _ token: String, _ ids: [String: String]) async throws -> Void
    ) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            var ids: [String: String] = [:]
            let people: [(String, [(String, String)])] = [
                (
                    "grace",
                    [
                        ("name", #"{"givenName":"Grace","familyName":"Hopper"}"#), ("gender", "female"),
                        ("birthday", "1906-12-09"), ("phoneNumber", "+1 555 0100"), ("preferredUsername", "amazing"),
                        ("addresses", #"{"home":{"postalCode":"22201","country":"US"}}"#),
                    ]
                ),
                ("bea", [("displayName", "Bea B."), ("birthday", "1906-01-01")]),
            ]
            for (name, profile) in people {
                let made = try await world.server.post(
                    "/api/2/signup", form: [("email", "\(name)@example.com")] + profile, bearer: token)
                ids[name] = try #require(made.data["userId"]?.string)
            }
            ids["cleo"] = try await world.person("cleo@example.com")
            _ = try await world.signIn(as: "cleo@example.com")
            try await body(world, token, ids)
        }
    }

    private func names(
        _ world: World, _ token: String, _ ids: [String: String], _ path: String
    ) async throws -> [String] {
        let answer = try await world.api(path, token)
        #expect(answer.status == 200 && answer.json["type"] == "collection", "\(path): \(answer)")
        let found = answer.data.members?.map(\.name) ?? answer.data.array?.compactMap { $0["userId"]?.string } ?? []
        return found.compactMap { id in ids.first { $0.value == id }?.key }.sorted()
    }

    @Test(
        "Users are found by what their profile says, in a map by their ids or in a list", arguments: Backend.available)
    func found(_ backend: Backend) async throws {
        try await story(backend) { world, token, ids in
            let searches: KeyValuePairs<String, [String]> = [
                "email=GRACE%40example.com": ["grace"], "query=grace": ["grace"], "userId=\(ids["bea"] ?? "")": ["bea"],
                "givenName=grace": ["grace"], "familyName=Hopper": ["grace"], "fullName=grace+hopper": ["grace"],
                "displayName=Grace+Hopper": ["grace"], "displayName=bea+b.": ["bea"],
                "preferredUsername=Amazing": ["grace"],
                "gender=female": ["grace"], "gender=undisclosed": ["bea"], "birthday=1906-12-09": ["grace"],
                "birthyear=1906": ["bea", "grace"], "birthyear=1906&gender=female": ["grace"],
                "phoneNumber=%2B15550100": ["grace"], "phoneNumbers=%2B1+555+0100": ["grace"],
                "address_postalCode=22201": ["grace"], "address_country=us&givenName=Grace": ["grace"],
                "query=grace&familyName=Lovelace": [], "givenName=Cleo": [], "email=cleo%40example.com": [],
                "email=nobody%40example.com": [], "userId=x": [], "givenName=grace&status=0": ["grace"],
                "givenName=grace&status=1": [], "givenName=grace&status=-3": [], "birthyear=1906&limit=1&offset=2": [],
                "userId=\(ids["cleo"] ?? "")&filters=merchant": ["cleo"],
            ]
            for (search, people) in searches {
                for path in ["search/users?", "users?"] {
                    let found = try await names(world, token, ids, path + search)
                    #expect(found == people, "\(path)\(search)")
                }
            }
            #expect(try await names(world, token, ids, "search/users/grace") == ["grace"])
            #expect(try await names(world, token, ids, "search/users/zz") == [])
            let grace = try #require(ids["grace"])
            let one = try await world.api("search/users?email=grace%40example.com", token)
            #expect(one.data[grace]?["userId"] == .string(grace) && one.data[grace]?["email"] == nil)
            #expect(one.json["meta"] == ["count": 1, "offset": 0])
            for offset in 0...1 {
                let part = try await world.api("search/users?birthyear=1906&limit=1&offset=\(offset)", token)
                #expect(part.data.members?.count == 1)
            }
        }
    }

    @Test("A page of a search has only users whose address and profile both match", arguments: Backend.available)
    func prefixAndProfile(_ backend: Backend) async throws {
        try await story(backend) { world, token, ids in
            for name in ["gray", "green"] {
                let form = [("email", "\(name)@example.com"), ("displayName", name)]
                #expect(try await world.server.post("/api/2/signup", form: form, bearer: token).status == 201)
            }
            for name in ["gray", "green"] {
                let found = try await world.api("users?query=gr&displayName=\(name)&limit=1", token)
                #expect(found.data.array?.map { $0["displayName"] } == [.string(name)], "\(name): \(found)")
            }
            #expect(try await names(world, token, ids, "users?query=be&gender=female").isEmpty)
        }
    }

    @Test("A search for nothing, another client's users and unknown searches are refused", arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await story(backend) { world, token, ids in
            for path in ["search/users", "search/users?limit=1", "search/users?email="] {
                let answer = try await world.api(path, token)
                #expect(answer.status == 400 && answer.spidError == "No valid search parameters provided", "\(path)")
            }
            let foreign = try await world.api("search/users?givenName=Grace&clientId=\(world.app.id)", token)
            #expect(foreign.status == 403 && foreign.spidError == "Wrong clientId")
            for search in ["emails_regex=.", "orderId=1", "givenName=Grace&status=x", "userId=1&email=a%40b.c"] {
                #expect(try await world.api("search/users?" + search, token).status == 400, "\(search)")
            }
            #expect(try await world.api("search/users/grace?query=bea", token).status == 400)
            // A third party may not find out what it may not see.
            let stranger = try await world.spidBackend(["first_party": false])
            let strangers = try await world.clientToken(stranger)
            for search in ["givenName=Grace", "email=grace%40example.com", "query=grace"] {
                #expect(try await world.api("search/users?" + search, strangers).status == 403, "\(search)")
            }
            let phone = try await world.signIn().require("access_token")
            #expect(try await world.api("search/users?givenName=Grace", phone).status == 401)
        }
    }

    @Test(
        "A search for the UUID that an import kept tells a third party nothing of a user it does not know",
        arguments: Backend.available)
    func keptUUID(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let kept = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
            let random = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
            try await world.newcomer(keeping: kept)
            let third = try await world.clientToken(try await world.spidBackend(["first_party": false]))
            let own = try await world.clientToken(try await world.spidBackend())
            for path in ["search/users/", "users?query=", "search/users?query="] {
                func ask(_ uuid: String, _ token: String) async throws -> (status: Int, gist: String) {
                    let answer = try await world.api(path + uuid, token)
                    let members = (answer.json.members ?? []).filter { $0.name != "request" }
                    return (answer.status, JSON.object(members).text.replacing(uuid, with: ""))
                }
                let (found, nobody) = (try await ask(kept, third), try await ask(random, third))
                #expect(found.status == 403 && nobody.status == 403, "\(path): \(found) \(nobody)")
                #expect(found.gist == nobody.gist, "\(path)")
                // To the merchant's own, too, they are alike: nobody that the client knows.
                for uuid in [kept, random] { #expect(try await ask(uuid, own).status == 200, "\(path)\(uuid)") }
            }
        }
    }
}
