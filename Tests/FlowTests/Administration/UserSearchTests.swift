import JSON
import Storage
import TestSupport
import Testing

@Suite("Administration finds users")
struct UserSearchTests {
    /// The ids of a list of administration, over all its pages.
    static func ids(
        _ path: String, in world: World, by token: String? = nil, limit: Int = 100, named member: String = "user_id"
    ) async throws -> [String] {
        var (ids, cursor, pages): ([String], String?, Int) = ([], nil, 0)
        repeat {
            let page = "limit=\(limit)" + (cursor.map { "&cursor=\($0)" } ?? "")
            let separator = path.contains("?") ? "&" : "?"
            let answer = try await world.server.get(
                "/admin/v1/\(path)\(separator)\(page)", bearer: token ?? world.admin)
            try #require(answer.status == 200, "\(path): \(answer)")
            ids += answer.json["items"]?.array?.compactMap { $0[member]?.string } ?? []
            cursor = answer.json["next"]?.string
            pages += 1
        } while cursor != nil && pages < 100
        return ids
    }

    private static func administrator(of merchant: String, in world: World) async throws -> String {
        try await world.clientToken(
            try await world.confidential(
                ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant),
            scope: "admin:merchant")
    }

    @Test(
        "Administration finds a user by number, sub, phone number and the start of a name or an address",
        arguments: Backend.available)
    func each(backend: Backend) async throws {
        try await World.with(backend) { world in
            let grace = try await world.newcomer("Grace.Hopper@example.com")
            let named = try await world.server.send(
                "PATCH", "/admin/v1/users/\(grace)", json: ["name": "Grace  Hopper"], bearer: world.admin)
            #expect(named.status == 200, "\(named)")
            let cases: [(String, [String])] = [
                ("user_id=\(world.user)", [world.user]), ("sub=\(world.user)", [world.user]), ("sub=unknown", []),
                ("user_id=77", []), ("name_prefix=ada", [world.user]), ("name_prefix=ADA%20LOVE", [world.user]),
                ("name_prefix=grace%20hop", [grace]), ("name_prefix=hopper", []), ("name_prefix=adb", []),
                ("email_prefix=ada@", [world.user]), ("email_prefix=GRACE.", [grace]), ("email_prefix=race", []),
                ("email_prefix=ada@&disabled=true", []), ("email_prefix=ada@&disabled=false", [world.user]),
                ("disabled=true", []), ("client_id=\(world.app.id)", [world.user]), ("client_id=unknown", []),
                ("email_prefix=ada&name_prefix=ada%20l", [world.user]), ("email_prefix=ada&name_prefix=grace", []),
                ("created_before=1", []), ("created_after=99999999999", []), ("email=ada@example.com&user_id=77", []),
                ("phone_number=%2B4790000000", []), ("identity=unknown:1", []),
            ]
            for (query, found) in cases {
                #expect(try await Self.ids("users?\(query)", in: world) == found, "\(query)")
                let answer = try await world.server.get("/admin/v1/users?\(query)&count=true", bearer: world.admin)
                #expect(answer.json["count"]?.integer == Int64(found.count), "\(query): \(answer)")
            }
            let all = try await world.server.get("/admin/v1/users", bearer: world.admin)
            #expect(all.json["count"] == nil && all.json["items"]?.array?.count == 2)
        }
    }

    @Test("Administration lists users in each order, page by page and back", arguments: Backend.available)
    func orders(backend: Backend) async throws {
        try await World.with(backend) { world in
            var users = [world.user]
            // Upper case comes before lower case by bytes, and after it in most collations.
            for (number, letter) in ["b", "_x", "é", "B2", "zz"].enumerated() {
                world.server.clock.advance(by: .seconds(1))
                let made = try await World.make(
                    world.server, world.admin, "users",
                    ["email": .string("user\(9 - number)@example.com"), "name": .string("\(letter) Name")])
                users.append(try made.require("user_id"))
            }
            let byTime = try await Self.ids("users?sort=created_at", in: world, limit: 2)
            #expect(byTime == users)
            #expect(try await Self.ids("users?sort=-created_at", in: world, limit: 2) == users.reversed())
            let byAddress = try await Self.ids("users?sort=email", in: world, limit: 2)
            #expect(byAddress == [users[0]] + users.dropFirst().reversed())
            #expect(try await Self.ids("users?sort=-email", in: world, limit: 1) == byAddress.reversed())
            let byName = try await Self.ids("users?sort=name", in: world, limit: 2)
            #expect(byName == [users[2], users[0], users[1], users[4], users[5], users[3]])
            #expect(try await Self.ids("users?sort=-name", in: world, limit: 2) == byName.reversed())
            let byID = try await Self.ids("users", in: world, limit: 2)
            #expect(byID == users.sorted())
            #expect(try await Self.ids("users?sort=-user_id", in: world, limit: 2) == byID.reversed())
            #expect(
                try await Self.ids("users?email_prefix=user&sort=-email", in: world, limit: 2) == Array(users[1...]))
            #expect(try await Self.ids("users?client_id=\(world.app.id)&sort=name", in: world) == [world.user])
        }
    }

    @Test(
        "Administration refuses what it cannot read of a search, and names the parameter", arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (query, name) in [
                ("user_id=x", "user_id"), ("phone_number=12", "phone_number"), ("identity=x", "identity"),
                ("disabled=1", "disabled"), ("created_after=now", "created_after"), ("sort=age", "sort"),
                ("sort=--email", "sort"), ("count=yes", "count"), ("email_prefix=a&sort=name", "sort"),
                ("name_prefix=%20", "name_prefix"), ("prefix=a", "prefix"), ("phone=1", "phone"),
            ] {
                let answer = try await world.server.get("/admin/v1/users?\(query)", bearer: world.admin)
                expectProblem(answer, 400)
                #expect(answer.json["parameter"]?.string == name, "\(query): \(answer)")
            }
            let cursor = try await world.server.get("/admin/v1/users?sort=email&limit=1", bearer: world.admin)
            _ = try await world.newcomer("grace@example.com")
            let next = try await world.server.get("/admin/v1/users?sort=email&limit=1", bearer: world.admin)
                .require("next")
            #expect(cursor.json["next"] == .null)
            expectProblem(
                try await world.server.get("/admin/v1/users?sort=name&cursor=\(next)", bearer: world.admin), 400)
        }
    }

    @Test("A merchant administrator's searches find only the merchant's own users", arguments: Backend.available)
    func ownUsers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await Self.administrator(of: world.merchant, in: world)
            let stranger = try await world.newcomer("grace@example.com")
            try await world.introduce(stranger, to: world.rival)
            for query in [
                "user_id=\(stranger)", "sub=\(stranger)", "email=grace@example.com", "email_prefix=grace",
                "client_id=\(world.rivalBackend.id)", "name_prefix=g", "disabled=true",
            ] {
                let answer = try await world.server.get("/admin/v1/users?\(query)&count=true", bearer: token)
                #expect(answer.json["items"] == .array([]) && answer.json["next"] == .null, "\(query): \(answer)")
                #expect(answer.json["count"]?.integer == 0, "\(query): \(answer)")
            }
            for query in [
                "user_id=\(world.user)", "email_prefix=a", "name_prefix=ada", "sort=created_at", "sort=-email",
                "client_id=\(world.app.id)", "disabled=false", "created_before=99999999999", "sort=user_id",
            ] {
                #expect(
                    try await Self.ids("users?\(query)", in: world, by: token) == [world.user], "\(query)")
            }
        }
    }

    @Test(
        "Administration finds the user of a pairwise sub, and a merchant's only that of its own clients",
        arguments: Backend.available)
    func pairwise(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website([
                "subject_type": "pairwise", "grant_types": ["authorization_code", "refresh_token"],
            ])
            var browser = Browser(world.server)
            let tokens = try await site.signIn(in: &browser, scope: "openid profile")
            let claims = try TakenApart(try tokens.require("id_token")).claims
            let (sub, sid) = (try #require(claims["sub"]?.string), try #require(claims["sid"]?.string))
            let own = try await Self.administrator(of: world.merchant, in: world)
            let rival = try await Self.administrator(of: world.rival, in: world)
            #expect(try await Self.ids("users?sub=\(sub)", in: world) == [world.user])
            #expect(try await Self.ids("users?sub=\(sub)", in: world, by: own) == [world.user])
            #expect(try await Self.ids("users?sub=\(sub)", in: world, by: rival) == [])
            func kinds(_ text: String, by token: String) async throws -> [String?]? {
                let answer = try await world.server.get("/admin/v1/find?q=\(text)", bearer: token)
                return answer.json["items"]?.array?.map { $0["kind"]?.string }
            }
            #expect(try await kinds(sub, by: world.admin) == ["user"])
            #expect(try await kinds(sub, by: rival) == [])
            #expect(try await kinds(sid, by: world.admin) == ["session"])
            #expect(try await kinds(sid, by: rival) == [])
            // Another text of the same form names no user.
            let other = String(sub.dropFirst()) + "A"
            #expect(try await Self.ids("users?sub=\(other)", in: world) == [])
            #expect(try await kinds(other, by: world.admin) == [])
        }
    }

    @Test(
        "Administration finds anything by its id, and tells a merchant's nothing of others",
        arguments: Backend.available)
    func anything(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            #expect(phone.status == 200)
            func found(_ text: String, by token: String) async throws -> [String] {
                let answer = try await world.server.get("/admin/v1/find?q=\(text)", bearer: token)
                return answer.json["items"]?.array?.compactMap { item in
                    #expect(item["href"]?.string?.hasPrefix("/admin/v1/") == true)
                    return "\(item["kind"]?.string ?? "") \(item["id"]?.string ?? "")"
                } ?? []
            }
            let family = try await world.server.database.rows("SELECT id FROM token_families").first?
                .get("id", as: String.self)
            let key = try await world.server.database.rows("SELECT id FROM signing_keys").first?
                .get("id", as: String.self)
            let own = try await Self.administrator(of: world.merchant, in: world)
            let rival = try await Self.administrator(of: world.rival, in: world)
            for (text, kind) in [
                (world.user, "user"), (world.app.id, "client"), (world.merchant, "merchant"),
                (try #require(family), "tokens"),
            ] {
                #expect(try await found(text, by: world.admin) == ["\(kind) \(text)"])
                #expect(try await found(text, by: own) == ["\(kind) \(text)"])
                #expect(try await found(text, by: rival) == [])
            }
            #expect(try await found("ada@example.com", by: own) == ["user \(world.user)"])
            #expect(try await found(try #require(key), by: world.admin).count == 1)
            #expect(try await found(try #require(key), by: own) == [])
            #expect(try await found("unknown", by: world.admin) == [])
            expectProblem(try await world.server.get("/admin/v1/find", bearer: world.admin), 400)
        }
    }
}
