import Authentication
import Directory
import JSON
import TestSupport
import Testing
import Values

@Suite("SPiD's API lists and searches a client's users")
struct UserListTests {
    // MARK: Lists

    private static let emails = ["ada@example.com", "adam@example.com", "bea@example.com", "cleo@example.com"]

    /// Loom's backend, with three users, and a fourth of the app.
    private func story(
        _ backend: Backend, _ body: (World, _ token: String, _ ids: [String]) async throws -> Void
    ) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            var ids = [world.user]
            for email in Self.emails.dropFirst() {
                world.server.clock.advance(by: .minutes(10))
                ids.append(try await world.person(email))
            }
            for email in Self.emails.dropLast() { _ = try await world.signIn(with: loom, as: email) }
            _ = try await world.signIn(as: Self.emails[3])
            let stranger = try await world.newcomer("stranger@example.com")
            _ = try await world.signIn(with: world.rivalBackend, as: "stranger@example.com")
            #expect(!stranger.isEmpty)
            try await body(world, try await world.clientToken(loom), ids)
        }
    }

    private func ids(_ world: World, _ token: String, _ query: String) async throws -> [String] {
        let answer = try await world.api("users?\(query)", token)
        #expect(answer.status == 200, "\(query): \(answer)")
        return answer.data.array?.compactMap { $0["userId"]?.string } ?? []
    }

    @Test(
        "SPiD's list of users has the client's users, or by a filter its merchant's, with few members each",
        arguments: Backend.available)
    func all(_ backend: Backend) async throws {
        try await story(backend) { world, token, ids in
            let answer = try await world.api("users", token)
            #expect(answer.json["type"] == "collection" && answer.json["object"] == "User")
            #expect(answer.json["meta"] == ["count": 3, "offset": 0])
            #expect(Set(try await self.ids(world, token, "")) == Set(ids.dropLast()))
            for user in answer.data.array ?? [] {
                #expect(user["uuid"] != nil && user["status"] == 0 && user["lastLoggedIn"]?.string != nil)
                #expect(user["email"] == nil && user["emails"] == nil && user["accounts"] == nil)
            }
            for filter in ["filters=merchant", "filters%5B%5D=merchant", "filters=unverified,merchant"] {
                #expect(Set(try await self.ids(world, token, filter)) == Set(ids), "\(filter)")
            }
        }
    }

    @Test("SPiD's list of users is paged by limit and offset", arguments: Backend.available)
    func parts(_ backend: Backend) async throws {
        try await story(backend) { world, token, ids in
            var found: [String] = []
            for offset in 0..<4 {
                let answer = try await world.api("users?limit=1&offset=\(offset)", token)
                #expect(
                    answer.json["meta"] == ["count": .integer(offset < 3 ? 1 : 0), "offset": .integer(Int64(offset))])
                found += answer.data.array?.compactMap { $0["userId"]?.string } ?? []
            }
            #expect(found.count == 3 && Set(found) == Set(ids.dropLast()))
            #expect(try await self.ids(world, token, "limit=100000").count == 3)
            #expect(try await self.ids(world, token, "limit=0").isEmpty)
        }
    }

    @Test(
        "SPiD's list of users finds users by id, uuid, address, or the beginning of an address",
        arguments: Backend.available)
    func search(_ backend: Backend) async throws {
        try await story(backend) { world, token, ids in
            let bea = ids[2]
            let uuid = UserUUID(try #require(UserID(bea))).description
            for query in [
                "userId=\(bea)", "id=\(bea)", "uuid=\(uuid)", "query=\(uuid)", "query=\(bea)",
                "email=BEA%40example.com",
                "emails=bea%40example.com", "query=bea", "query=Bea%40",
            ] { #expect(try await self.ids(world, token, query) == [bea], "\(query)") }
            #expect(Set(try await self.ids(world, token, "query=ada")) == Set(ids[..<2]))
            for query in [
                "query=d", "query=%25", "query=_da", "query=zz", "email=nobody%40example.com", "email=nonsense",
                "userId=x",
                "userId=\(ids[3])", "email=cleo%40example.com",
            ] {
                let answer = try await world.api("users?\(query)", token)
                #expect(answer.status == 200 && answer.data == [], "\(query): an empty list is no error")
            }
            #expect(try await self.ids(world, token, "userId=\(ids[3])&filters=merchant") == [ids[3]])
            // A client that may not see a user's address cannot search by it.
            #expect(try await self.ids(world, token, "email=cleo%40example.com&filters=merchant").isEmpty)
            #expect(try await self.ids(world, token, "query=cleo&filters=merchant").isEmpty)
        }
    }

    @Test("SPiD's list of users is filtered by time and state, and shows changes at once", arguments: Backend.available)
    func timeAndState(_ backend: Backend) async throws {
        try await story(backend) { world, token, ids in
            #expect(try await self.ids(world, token, "since=2027-01-15%2008:10:00") == [ids[1], ids[2]])
            #expect(try await self.ids(world, token, "until=2027-01-15T08:10:00Z") == [ids[0], ids[1]])
            #expect(try await self.ids(world, token, "since=2027-01-15+08:05:00&until=1800000900") == [ids[1]])
            #expect(try await self.ids(world, token, "since=2027-01-16").isEmpty)
            world.server.clock.advance(by: .minutes(20))
            try await world.change("users", ids[0], ["email_verified": true])
            try await world.change("users", ids[1], ["disabled": true])
            #expect(try await self.ids(world, token, "since=2027-01-15+08:45:00&filters=updated") == [ids[0]])
            #expect(try await self.ids(world, token, "filters=verified") == [ids[0]])
            #expect(try await self.ids(world, token, "filters=unverified") == [ids[2]])
            #expect(try await self.ids(world, token, "filters=blocked") == [ids[1]])
            #expect(Set(try await self.ids(world, token, "")) == [ids[0], ids[2]])
            let blocked = try await world.api("users?filters=blocked", token)
            #expect(blocked.data.array?.first?["status"] == -2)
        }
    }

    @Test(
        "SPiD's list of users refuses an unreadable or unknown filter instead of ignoring it",
        arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await story(backend) { world, token, _ in
            for query in [
                "limit=-1", "limit=many", "offset=1.5", "offset=100001", "since=someday", "since=2027-02-31",
                "until=2027-13-01",
                "filters=facebook", "filters%5B%5D=deleted", "orderId=1", "paymentIdentifier=1", "emails_regex=.",
                "userId=1&email=a%40b.c", "limit=1&limit=2",
            ] {
                let answer = try await world.api("users?\(query)", token)
                #expect(answer.status == 400 && answer.json["error"]?["type"] == "ApiException", "\(query)")
            }
            let phone = try await world.signIn().require("access_token")
            #expect(try await world.api("users", phone).status == 401)
            #expect(try await world.api("users", try await world.clientToken(world.backend)).status == 403)
        }
    }

    // MARK: Searches

    /// Loom's backend with the users Grace and Bea, and Cleo, who uses the app.
    private func searching(
        _ backend: Backend, _ body: (World, _ token: String, _ ids: [String: String]) async throws -> Void
    ) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            var ids: [String: String] = [:]
            let users: [(String, [(String, String)])] = [
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
            for (name, profile) in users {
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
        "SPiD's search and list of users find users by profile members, in a map by id and in a list",
        arguments: Backend.available)
    func found(_ backend: Backend) async throws {
        try await searching(backend) { world, token, ids in
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
            for (search, expected) in searches {
                for path in ["search/users?", "users?"] {
                    let found = try await names(world, token, ids, path + search)
                    #expect(found == expected, "\(path)\(search)")
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

    @Test(
        "A page of SPiD's list of users has only users whose address and profile both match the search",
        arguments: Backend.available)
    func prefixAndProfile(_ backend: Backend) async throws {
        try await searching(backend) { world, token, ids in
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

    @Test(
        "SPiD's user search is refused if it is empty, for another client's users, or by an unknown member",
        arguments: Backend.available)
    func refusedSearches(_ backend: Backend) async throws {
        try await searching(backend) { world, token, ids in
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
            // A third party cannot search by what it may not see.
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
        "A third party that searches for an unknown user's imported UUID does not learn that the user exists",
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
                let (found, unknown) = (try await ask(kept, third), try await ask(random, third))
                #expect(found.status == 403 && unknown.status == 403, "\(path): \(found) \(unknown)")
                #expect(found.gist == unknown.gist, "\(path)")
                // The merchant's own client cannot tell them apart either.
                for uuid in [kept, random] { #expect(try await ask(uuid, own).status == 200, "\(path)\(uuid)") }
            }
        }
    }
}
