import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import Authentication

@Suite("Data objects that SPiD's clients keep of their users and of themselves")
struct DataObjectTests {
    @Test("SPiD's API stores, replaces, reads, lists and deletes a user's data object", arguments: Backend.available)
    func ofUser(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let phone = try await world.signIn(with: loom).require("access_token")
            let own = try await world.clientToken(loom)
            for (name, token) in [("dataobject", own), ("do", phone)] {
                let path = "user/\(world.user)/\(name)/theme"
                let made = try await world.api(path, token, ["value": "dark"])
                #expect(made.status == 201 && made.json["code"] == 201, "\(made)")
                let object = made.data
                #expect(object["clientId"] == .string(loom.id) && object["userId"] == .string(world.user))
                #expect(object["key"] == "theme" && object["value"] == "dark" && object["merchantId"] == "1")
                let (id, created) = (object["dataObjectId"]?.string ?? "", object["created"])
                #expect(!id.isEmpty && created == object["updated"])

                world.server.clock.advance(by: .minutes(1))
                let changed = try await world.api(path, token, ["value": "light\nblue"])
                #expect(changed.data["created"] == created && changed.data["updated"] != created)
                #expect(try await world.api(path, token).data == changed.data)
                #expect(changed.data["value"] == "light\nblue")
                let list = try await world.api("user/\(world.user)/dataobjects", token)
                #expect(list.json["type"] == "collection" && list.data == .object([.init(id, changed.data)]))
                #expect(list.json["meta"] == ["count": 1, "offset": 0])

                let gone = try await world.server.send("DELETE", "/api/2/" + path, bearer: token)
                #expect(gone.status == 200 && gone.data == ["success": true])
                #expect(try await world.server.send("DELETE", "/api/2/" + path, bearer: token).status == 404)
                #expect(try await world.api(path, token).status == 404)
                #expect(try await world.api("user/\(world.user)/dataobjects", token).data == .object([]))
            }
        }
    }

    @Test(
        "A user's data objects are deleted with the connection, and not listed while a deletion is pending",
        arguments: Backend.available)
    func connection(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let own = try await world.clientToken(loom)
            let user = try #require(UserID(world.user))
            let path = "user/\(user)/do/theme"
            #expect(try await world.api(path, own, ["value": "dark"]).status == 201)
            func count() async throws -> Int {
                try await world.api("dataobjects", own).json["meta"]?["count"]?.integer.map(Int.init) ?? -1
            }
            func set(_ sql: SQL) async throws {
                try await world.server.database.write { db in _ = try db.execute(sql) }
            }
            #expect(try await count() == 1)
            // Not due yet: the server deletes those that are.
            let due = world.server.clock.now + .days(1)
            try await set("UPDATE users SET deletion_due_at = \(due) WHERE id = \(user)")
            #expect(try await count() == 0)
            try await set("UPDATE users SET deletion_due_at = NULL WHERE id = \(user)")
            #expect(try await count() == 1)
            try await set("DELETE FROM connections WHERE client_id = \(loom.id)")
            #expect(try await world.server.database.rows("SELECT id FROM data_objects").isEmpty)
        }
    }

    @Test(
        "A client may store data objects without a user, and lists all its objects by page, key and time",
        arguments: Backend.available)
    func ofClient(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let sister = try await world.spidBackend()
            let (own, sisters) = (try await world.clientToken(loom), try await world.clientToken(sister))
            for (path, token) in [
                ("client/\(loom.id)/do/theme", own), ("client/\(loom.id)/dataobject/a%2Fb%20c", own),
                ("user/\(world.user)/do/theme", own), ("client/\(sister.id)/do/theme", sisters),
            ] {
                #expect(try await world.api(path, token, ["value": .init(path.prefix(4))]).status == 201, "\(path)")
                world.server.clock.advance(by: .minutes(1))
            }
            let odd = try await world.api("client/\(loom.id)/dataobject/a%2Fb%20c", own).data
            #expect(odd["key"] == "a/b c" && odd["userId"] == "")
            func values(_ query: String) async throws -> [String] {
                let answer = try await world.api("dataobjects?" + query, own)
                #expect(answer.status == 200 && answer.json["type"] == "collection", "\(query): \(answer)")
                return (answer.data.members ?? []).compactMap { $0.value["value"]?.string }
            }
            #expect(try await values("") == ["clie", "clie", "user"])
            #expect(try await values("key=theme") == ["clie", "user"])
            #expect(try await values("key=theme&sort=desc") == ["user", "clie"])
            #expect(try await values("key=theme&filters=merchant").count == 3)
            // Rows of a deleted client wait for the background task, and are not shown.
            let isKept: SQL = "id <> \(loom.id)"
            try await world.server.database.change("UPDATE clients SET deleted_at = 1 WHERE \(isKept)")
            #expect(try await values("key=theme&filters=merchant").count == 2)
            try await world.server.database.change("UPDATE clients SET deleted_at = NULL WHERE \(isKept)")
            #expect(try await values("limit=1&offset=1&sort=ASC") == ["clie"])
            #expect(try await values("key=nothing").isEmpty)
            #expect(try await values("since=2027-01-15+08:02:00") == ["user"])
            _ = try await world.api("client/\(loom.id)/do/theme", own, ["value": "later"])
            #expect(try await values("since=2027-01-15+08:02:00&filters=updated") == ["user", "later"])
            #expect(try await values("filters=updated&sort=desc").first == "later")
            for query in ["sort=up", "filters=verified", "since=someday"] {
                #expect(try await world.api("dataobjects?" + query, own).status == 400, "\(query)")
            }
        }
    }

    @Test(
        "A client's data objects are refused to user tokens of other clients and to other merchants",
        arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let phone = try await world.signIn(with: loom).require("access_token")
            let own = try await world.clientToken(loom)
            let path = "user/\(world.user)/dataobject/theme"
            #expect(try await world.api(path, own, ["value": "dark"]).status == 201)
            // A user's token does not reach objects that another client keeps of the user.
            let app = try await world.spidBackend()
            let user = try await world.signIn(with: app).require("access_token")
            #expect(try await world.api("user/\(world.user)/do/theme", user, ["value": "own"]).status == 201)
            let context = "contextClientId=\(loom.id)"
            #expect(try await world.api("\(path)?\(context)", user).status == 403)
            #expect(try await world.api("user/\(world.user)/dataobjects?\(context)", user).status == 403)
            #expect(try await world.api(path, user, ["value": "x", "contextClientId": loom.id]).status == 403)
            let deleted = try await world.server.send("DELETE", "/api/2/\(path)?\(context)", bearer: user)
            #expect(deleted.status == 403)
            #expect(try await world.api(path, own).data["value"] == "dark")
            let sisters = try await world.clientToken(app)
            #expect(try await world.api("\(path)?\(context)", sisters).data["value"] == "dark", "a backend may")
            let other = try await world.newcomer("bea@example.com")
            let rival = try await world.clientToken(try await world.spidBackend(of: world.rival))
            let sister = try await world.clientToken(try await world.spidBackend())
            for token in [rival, sister] {
                #expect(try await world.api(path, token).status == 403)
                #expect(try await world.api(path, token, ["value": "x"]).status == 403)
                #expect(try await world.server.send("DELETE", "/api/2/" + path, bearer: token).status == 403)
                #expect(try await world.api("client/\(loom.id)/do/theme", token).status == 404)
                #expect(try await world.api("dataobjects", token).data == .object([]))
            }
            #expect(try await world.api("user/\(other)/do/theme", phone).status == 403)
            #expect(try await world.api("user/\(other)/do/theme", own, ["value": "x"]).status == 403)
            #expect(try await world.api("client/\(loom.id)/do/theme", phone, ["value": "x"]).status == 401)
            #expect(try await world.api("dataobjects", phone).status == 401)
            let strict = try await world.signIn().require("access_token")
            #expect(try await world.api(path, strict, ["value": "x"]).status == 403)
            #expect(try await world.api(path, nil, ["value": "x"]).status == 401)
            #expect(try await world.api(path, own).data["value"] == "dark")
        }
    }

    @Test(
        "A data object's key and value are limited, and so are number and size per user or client",
        arguments: Backend.available)
    func limits(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            func set(_ key: String, _ value: String, of owner: String = "user/\(world.user)") async throws -> Int {
                try await world.api("\(owner)/do/\(key)", token, ["value": value]).status
            }
            #expect(try await set(String(repeating: "k", count: 256), "x") == 400)
            #expect(try await set(String(repeating: "k", count: 255), "x") == 201)
            #expect(try await set("empty", "") == 400)
            for number in 1..<100 { #expect(try await set("key\(number)", "x") == 201) }
            #expect(try await set("key100", "x") == 409)
            #expect(try await set("key99", "another") == 201)
            #expect(try await set("key100", "x", of: "client/\(loom.id)") == 201, "each owner has its own")
            let large = String(repeating: "x", count: 60_000)
            for number in 1...4 { #expect(try await set("key\(number)", large) == 201) }
            #expect(try await set("key5", large) == 409)
            #expect(try await set("key5", large + "x") == 400)
            let list = try await world.api("user/\(world.user)/dataobjects", token)
            #expect(list.data.members?.count == 100)
        }
    }

    @Test(
        "A merchant's data objects grow at a limited rate; deleting or shortening them frees the limit",
        arguments: Backend.available)
    func growth(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let sister = try await world.spidBackend()
            let rival = try await world.spidBackend(of: world.rival)
            for client in [loom, sister] { _ = try await world.signIn(with: client) }
            let large = String(repeating: "x", count: 58 * 1024)
            func set(_ key: String, of client: World.Actor, _ value: String = large) async throws -> Answer {
                try await world.api("client/\(client.id)/do/\(key)", world.clientToken(client), ["value": value])
            }
            #expect(try await set("a", of: loom).status == 201)
            // As if earlier objects had used all but 64 KiB.
            let bucket = Fingerprint<Throttle.Bucket>(of: "data objects of|\(world.merchant)")
            let used = world.server.clock.now + .milliseconds((256 * 1024 - 64) * 250)
            let found = try await world.server.database.write { db in
                try db.execute("UPDATE throttles SET theoretical_arrival = \(used) WHERE name = \(bucket)")
            }
            #expect(found == 1)
            #expect(try await set("b", of: sister).status == 201)
            let refused = try await set("c", of: loom)
            #expect(refused.status == 429 && refused.header("retry-after") == "14", "\(refused)")
            #expect(try await world.api("client/\(loom.id)/do/c", world.clientToken(loom)).status == 404)
            // Replacing an object by one of the same size is free. Another merchant has its own limit.
            #expect(try await set("a", of: loom).status == 201)
            #expect(try await set("a", of: rival).status == 201)
            // Deleting or shortening objects gives their room back.
            for _ in 1...10 {
                #expect(try await set("b", of: sister, "x").status == 201)
                #expect(try await set("c", of: loom, "x").status == 201)
                #expect(try await set("c", of: loom).status == 201)
                let gone = try await world.server.send(
                    "DELETE", "/api/2/client/\(loom.id)/do/c", bearer: try await world.clientToken(loom))
                #expect(gone.status == 200, "\(gone)")
                #expect(try await set("b", of: sister).status == 201)
            }
            #expect(try await set("c", of: loom).status == 429)
            world.server.clock.advance(by: .seconds(14))
            #expect(try await set("c", of: loom).status == 201)
        }
    }

    @Test(
        "A user's data objects are in the user's data download, and are deleted with the user or the client",
        arguments: Backend.available)
    func end(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            for owner in ["user/\(world.user)", "client/\(loom.id)"] {
                #expect(try await world.api("\(owner)/do/theme", token, ["value": "dark"]).status == 201)
            }
            var visitor = try await world.signedIn()
            let data = try await visitor.browser.open("/account/data").json
            let shown = try #require(data["data_objects"]?.array?.first)
            #expect(data["data_objects"]?.array?.count == 1)
            #expect(shown["key"] == "theme" && shown["value"] == "dark" && shown["client_id"] == .string(loom.id))
            func count() async throws -> Int {
                try await world.server.database.read { db in try db.rows("SELECT id FROM data_objects").count }
            }
            #expect(try await count() == 2)
            let gone = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(gone.status / 100 == 2, "\(gone)")
            #expect(try await count() == 1)
            let ended = try await world.server.send("DELETE", "/admin/v1/clients/\(loom.id)", bearer: world.admin)
            #expect(ended.status / 100 == 2, "\(ended)")
            #expect(try await count() == 0)
        }
    }

    @Test(
        "Data objects deleted with a connection, a user or a client free their size in the merchant's limit",
        arguments: Backend.available)
    func ended(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (loom, sister) = (try await world.spidBackend(), try await world.spidBackend())
            let own = try await world.clientToken(loom)
            let sisters = try await world.clientToken(sister)
            func set(_ path: String, by token: String) async throws {
                let value = String(repeating: "x", count: 50_000)
                #expect(try await world.api(path, token, ["value": value]).status == 201)
            }
            let bucket = Fingerprint<Throttle.Bucket>(of: "data objects of|\(world.merchant)")
            func used() async throws -> Int64 {
                let rows = try await world.server.database.rows(
                    "SELECT theoretical_arrival FROM throttles WHERE name = \(bucket)")
                return try #require(rows.first).get("theoretical_arrival")
            }
            _ = try await world.signIn(with: sister)
            try await set("client/\(sister.id)/do/own", by: sisters)
            let kept = try await used()
            func store() async throws {
                _ = try await world.signIn(with: loom)
                for key in ["a", "b"] { try await set("user/\(world.user)/do/\(key)", by: own) }
                #expect(try await used() > kept)
            }
            func expectGivenBack(_ way: String) async throws {
                #expect(try await used() == kept, "\(way)")
                #expect(try await world.server.database.rows("SELECT id FROM data_objects").count == 1, "\(way)")
            }

            try await store()
            var ada = try await world.signedIn()
            #expect(try await ada.change("apps/revoke", ["client": loom.id]).status == 303)
            try await expectGivenBack("revoked by the user")

            try await store()
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let user = "/admin/v1/users/\(world.user)"
            #expect(try await world.server.send("DELETE", user, bearer: administrator).status == 204)
            try await expectGivenBack("disconnected by the merchant")

            try await store()
            #expect(try await world.server.send("DELETE", user, bearer: world.admin).status / 100 == 2)
            try await expectGivenBack("the user is deleted")

            try await set("client/\(loom.id)/do/own", by: own)
            #expect(try await used() > kept)
            let client = "/admin/v1/clients/\(loom.id)"
            #expect(try await world.server.send("DELETE", client, bearer: world.admin).status / 100 == 2)
            try await expectGivenBack("the client is deleted")
        }
    }
}
