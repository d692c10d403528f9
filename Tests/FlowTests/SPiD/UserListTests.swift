import Authentication
import Directory
import JSON
import TestSupport
import Testing
import Values

@Suite("SPiD's API lists and searches a client's users")
struct UserListTests {
    private static let people = ["ada@example.com", "adam@example.com", "bea@example.com", "cleo@example.com"]

    /// Loom's backend, with three people of its own and one of the app's.
    private func story(
        _ backend: Backend, _ body: (World, _ token: String, _ ids: [String]) async throws -> Void
    ) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            var ids = [world.user]
            for email in Self.people.dropFirst() {
                world.server.clock.advance(by: .minutes(10))
                ids.append(try await world.person(email))
            }
            for email in Self.people.dropLast() { _ = try await world.signIn(with: loom, as: email) }
            _ = try await world.signIn(as: Self.people[3])
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
        "The list of users has the client's users, or by a filter its merchant's, in the short view",
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

    @Test("The list of users is paged, and no page exceeds the limit", arguments: Backend.available)
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

    @Test("Users are found by id, uuid or address, some by the beginning of an address", arguments: Backend.available)
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
                #expect(answer.status == 200 && answer.data == [], "\(query): nobody is no error")
            }
            #expect(try await self.ids(world, token, "userId=\(ids[3])&filters=merchant") == [ids[3]])
            // Nobody's address is found out by those who may not see it.
            #expect(try await self.ids(world, token, "email=cleo%40example.com&filters=merchant").isEmpty)
            #expect(try await self.ids(world, token, "query=cleo&filters=merchant").isEmpty)
        }
    }

    @Test("Users are filtered by time and state, and follow changes", arguments: Backend.available)
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

    @Test("An unreadable or unknown filter is refused, not ignored", arguments: Backend.available)
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
}
