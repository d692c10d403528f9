import Audit
import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Each change and each sign-in is an event that says who did what, to what and from where")
struct EventTests {
    /// The events that a request for them lists, the newest first.
    private func events(_ world: World, _ query: String = "", bearer: String? = nil) async throws -> [JSON] {
        try await world.server.storeNotes()
        let answer = try await world.server.get("/admin/v1/events\(query)", bearer: bearer ?? world.admin)
        #expect(answer.status == 200)
        return answer.json["items"]?.array ?? []
    }

    private func chain(_ world: World) -> EventChain {
        EventChain(database: world.server.database, clock: world.server.clock)
    }

    @Test(
        "An administrator's change of a user is an event with the values before and after", arguments: Backend.available
    )
    func userChanged(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["disabled": true])
            let found = try await events(world, "?type=user.changed&subject=\(world.user)")
            let event = try #require(found.first)
            #expect(found.count == 1)
            #expect(event["actor"] == ["type": "client", "id": .string(world.server.adminID)])
            #expect(event["subject"] == ["type": "user", "id": .string(world.user)])
            #expect(event["before"]?["disabled"] == false && event["after"]?["disabled"] == true)
            #expect(event["outcome"] == "success" && event["address"] != nil && event["request_id"] != nil)
            // What ended with it is there too, by the same request.
            let request = try #require(event["request_id"]?.string)
            let all = try await events(world, "?request_id=\(request)")
            #expect(all.contains { $0["type"] == "user.access_revoked" })
        }
    }

    @Test(
        "A mail that an administrator orders is an event with the user, and so is that it was sent",
        arguments: Backend.available)
    func orderedMail(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let answer = try await world.server.send(
                "POST", "/admin/v1/users/\(world.user)/mails", json: ["kind": "reset"], bearer: world.admin)
            #expect(answer.status == 202)
            try await world.allMailsSent()
            let ordered = try await events(world, "?type=mail.ordered&subject=\(world.user)")
            #expect(ordered.count == 1)
            #expect(ordered.first?["actor"] == ["type": "client", "id": .string(world.server.adminID)])
            #expect(ordered.first?["after"] == ["kind": "reset"])
            #expect(try await events(world, "?type=mail.sent&subject=\(world.user)").count == 1)
        }
    }

    @Test("A new password is an event that does not hold it", arguments: Backend.available)
    func password(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["password": "another horse battery"])
            let event = try #require(try await events(world, "?type=user.changed").first)
            #expect(event["after"]?["password"] == "changed")
            #expect(!event.text.contains("another horse") && !event.text.contains("argon2"))
        }
    }

    @Test(
        "Creating, changing and deleting a client and its secrets are events without secrets",
        arguments: Backend.available)
    func clients(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let clock = world.server.clock
            let client = try await world.confidential(["client_name": "Shuttle"])
            clock.advance(by: .milliseconds(1))
            try await world.change("clients", client.id, ["client_name": "Bobbin"])
            clock.advance(by: .milliseconds(1))
            let added = try await world.server.send(
                "POST", "/admin/v1/clients/\(client.id)/secrets", json: [:], bearer: world.admin)
            let secret = try added.require("client_secret")
            clock.advance(by: .milliseconds(1))
            _ = try await world.server.send("DELETE", "/admin/v1/clients/\(client.id)", bearer: world.admin)
            let found = try await events(world, "?client_id=\(client.id)")
            #expect(
                found.compactMap { $0["type"]?.string }
                    == ["client.deleted", "client.secret_added", "client.changed", "client.created"])
            #expect(found[2]["before"] == ["client_name": "Shuttle"] && found[2]["after"] == ["client_name": "Bobbin"])
            #expect(found.allSatisfy { !$0.text.contains(client.secret) && !$0.text.contains(secret) })
        }
    }

    @Test("A sign-in is an event, and a refused one says why", arguments: Backend.available)
    func signIns(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            _ = try await world.signIn(password: "a wrong password")
            _ = try await world.signIn(as: "nobody@example.com")
            let found = try await events(world, "?client_id=\(world.app.id)").filter {
                $0["type"]?.string?.hasPrefix("sign_in") == true
            }
            let refused = found.filter { $0["type"] == "sign_in.refused" }
            #expect(Set(refused.compactMap { $0["reason"]?.string }) == ["wrong_password", "unknown_user"])
            #expect(refused.first { $0["reason"] == "wrong_password" }?["subject"]?["id"]?.string == world.user)
            #expect(refused.first { $0["reason"] == "unknown_user" }?["subject"] == nil)
            #expect(found.contains { $0["type"] == "sign_in.succeeded" && $0["subject"]?["id"]?.string == world.user })
            #expect(refused.first { $0["reason"] == "wrong_password" }?["merchant_id"]?.string == world.merchant)
        }
    }

    @Test("A merchant's events do not say which addresses have a user", arguments: Backend.available)
    func addresses(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.newcomer("grace@example.com")
            let steward = try await world.confidential([
                "client_name": "Steward", "scope": "admin:merchant", "grant_types": ["client_credentials"],
            ])
            let token = try await world.clientToken(steward, scope: "admin:merchant")
            _ = try await world.signIn(as: "grace@example.com", password: "a wrong password")
            _ = try await world.signIn(as: "nobody@example.com")
            #expect(try await events(world, "?type=sign_in.refused", bearer: token).isEmpty)
            #expect(try await events(world, "?type=sign_in.refused&subject=\(stranger)").count == 1)
            // Once the user uses a client of the merchant, the merchant sees how they sign in.
            _ = try await world.signIn()
            _ = try await world.signIn()
            let seen = try await events(world, "?type=sign_in.succeeded", bearer: token)
            #expect(!seen.isEmpty && seen.allSatisfy { $0["subject"]?["id"]?.string == world.user })
        }
    }

    @Test("Equal refusals within a minute become one event with their count", arguments: Backend.available)
    func flood(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            func refused() async throws -> [JSON] {
                try await events(world, "?type=sign_in.refused") + events(world, "?type=throttle.began")
            }
            for _ in 0..<40 { _ = try await world.signIn(as: "nobody@example.com") }
            _ = try await events(world)
            for _ in 0..<40 { _ = try await world.signIn(as: "nobody@example.com") }
            #expect(try await refused().count <= 2)
            world.server.clock.advance(by: .seconds(61))
            let found = try await refused()
            #expect(found.count <= 4)
            let count = found.reduce(0) { $0 + ($1["count"]?.integer ?? 1) }
            #expect(count == 80)
        }
    }

    @Test("A merchant's administrator sees the events of its merchant alone", arguments: Backend.available)
    func merchants(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let steward = try await world.confidential([
                "client_name": "Steward", "scope": "admin:merchant", "grant_types": ["client_credentials"],
            ])
            let token = try await world.clientToken(steward, scope: "admin:merchant")
            try await world.change("clients", world.backend.id, ["client_name": "Loom's second backend"])
            try await world.change("clients", world.rivalBackend.id, ["client_name": "Rival's second backend"])
            let found = try await events(world, bearer: token)
            #expect(!found.isEmpty && found.allSatisfy { $0["merchant_id"]?.string == world.merchant })
            #expect(try await events(world, "?client_id=\(world.rivalBackend.id)", bearer: token).isEmpty)
            #expect(try await events(world, "?client_id=\(world.rivalBackend.id)").count == 2)
        }
    }

    @Test(
        "What names a user leaves their events when the user is deleted, and the chain stays whole",
        arguments: Backend.available)
    func erased(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["name": "Augusta King"])
            try await world.server.chainEvents()
            _ = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            try await world.server.chainEvents()
            let found = try await events(world, "?subject=\(world.user)")
            #expect(found.contains { $0["type"] == "user.changed" } && found.contains { $0["type"] == "user.deleted" })
            let actor = found.first { $0["type"] == "user.deleted" }?["actor"]
            #expect(actor == ["type": "client", "id": .string(world.server.adminID)])
            #expect(found.allSatisfy { !$0.text.contains("Augusta") && !$0.text.contains(World.email) })
            guard case .whole = try await chain(world).verify() else {
                Issue.record("the chain is broken")
                return
            }
        }
    }

    @Test("The check of the chain finds a missing or altered event", arguments: Backend.available)
    func broken(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("merchants", world.merchant, ["name": "Loom and Shuttle"])
            try await world.server.chainEvents()
            guard case .whole(let count, let end) = try await chain(world).verify(), count == end.position, count > 5
            else {
                Issue.record("the chain is not whole")
                return
            }
            let database = world.server.database
            func change(_ statement: SQL, back: SQL, at position: Int64) async throws {
                _ = try await database.write { db in try db.execute(statement) }
                guard case .broken(position, _) = try await chain(world).verify() else {
                    Issue.record("\(statement.text) is not seen")
                    return
                }
                _ = try await database.write { db in try db.execute(back) }
            }
            try await change(
                "UPDATE events SET actor_id = actor_id || 'x' WHERE position = 2",
                back: "UPDATE events SET actor_id = SUBSTR(actor_id, 1, LENGTH(actor_id) - 1) WHERE position = 2", at: 2
            )
            try await change(
                "UPDATE events SET user_id = 1 WHERE position = \(end.position)",
                back: "UPDATE events SET user_id = NULL WHERE position = \(end.position)", at: end.position)
            try await change(
                "UPDATE events SET position = 1000000 WHERE position = 3",
                back: "UPDATE events SET position = 3 WHERE position = 1000000", at: 3)
            try await change(
                "UPDATE events SET details = '{}' || details WHERE position = \(end.position)",
                back: "UPDATE events SET details = SUBSTR(details, 3) WHERE position = \(end.position)",
                at: end.position)
            // All hashes computed anew are seen by one who kept a link.
            let other = try #require(EventChain.Link("2:" + String(repeating: "0", count: 64)))
            #expect(try await chain(world).verify(trusted: end) == .whole(events: count, end: end))
            guard case .broken(2, _) = try await chain(world).verify(trusted: other) else {
                Issue.record("another link is taken")
                return
            }
        }
    }

    @Test("Old events go, and the chain begins where they ended", arguments: Backend.available)
    func retention(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.chainEvents()
            // The administrator's token would have expired.
            let clock = world.server.clock
            try await world.change("merchants", world.merchant, ["name": "Loom and Shuttle"])
            try await world.server.chainEvents()
            clock.advance(by: .days(364))
            #expect(try await !chain(world).shorten(keeping: .days(365)))
            let before = try await chain(world).verify()
            clock.advance(by: .days(2))
            while try await chain(world).shorten(keeping: .days(365)) {}
            #expect(try await chain(world).verify() != before)
            guard case .whole(let count, let end) = try await chain(world).verify() else {
                Issue.record("the chain is broken")
                return
            }
            #expect(count == 0 && end.position > 5)
            // A link of the events that are gone says nothing about those that are left.
            let early = try #require(EventChain.Link("1:" + String(repeating: "0", count: 64)))
            guard case .broken(1, _) = try await chain(world).verify(trusted: early) else {
                Issue.record("a link of events that are gone is taken")
                return
            }
            #expect(try await chain(world).verify(trusted: end) == .whole(events: count, end: end))
        }
    }

    @Test("Listing the events after the last one read misses none", arguments: Backend.available)
    func followed(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.chainEvents()
            func page(after: String) async throws -> Answer {
                try await world.server.get("/admin/v1/events?after=\(after)&limit=2", bearer: world.admin)
            }
            var next = "0"
            var seen: [String] = []
            while true {
                let answer = try await page(after: next)
                let ids = answer.json["items"]?.array?.compactMap { $0["id"]?.string } ?? []
                next = try answer.require("next")
                if ids.isEmpty { break }
                seen += ids
            }
            #expect(Set(seen).count == seen.count)
            try await world.change("merchants", world.merchant, ["name": "Loom and Shuttle"])
            try await world.server.chainEvents()
            let types = try await page(after: next).json["items"]?.array?.compactMap { $0["type"]?.string }
            #expect(types == ["merchant.changed"])
            expectProblem(try await page(after: "unknown"), 400)
        }
    }

    @Test(
        "A merchant's events reach its events_uri as signed tokens, and another merchant's do not",
        arguments: Backend.available)
    func pushed(_ backend: Backend) async throws {
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let receiver = try CallbackReceiver()
            let address = "http://127.0.0.1:\(receiver.port)/events"
            #expect(
                try await world.change("merchants", world.merchant, ["events_uri": .string(address)]).status == 200)
            try await world.change("clients", world.rivalBackend.id, ["client_name": "Rival's second backend"])
            try await world.change("clients", world.backend.id, ["client_name": "Loom's second backend"])
            var types: Set<String> = []
            while !types.contains("client.changed") {
                let call = try await receiver.next()
                #expect(call.path == "/events" && call.contentType == "application/secevent+jwt")
                let parts = call.body.split(separator: ".").map(String.init)
                try #require(parts.count == 3)
                let header = try JSON(parsing: try #require(Base64URL.decode(parts[0])))
                let claims = try JSON(parsing: try #require(Base64URL.decode(parts[1])))
                #expect(header["typ"] == "secevent+jwt" && header["alg"] == "RS256")
                #expect(claims["aud"]?.string == world.merchant && claims["jti"] != nil)
                let event = try #require(claims["events"]?.members?.first)
                #expect(event.name.hasPrefix("http://spindle.test/events/"))
                #expect(event.value["merchant_id"]?.string == world.merchant)
                #expect(event.value["client_id"]?.string != world.rivalBackend.id)
                if let type = event.value["type"]?.string { types.insert(type) }
            }
        }
    }

    @Test("A new secret of an issuer is an event that does not hold it", arguments: Backend.available)
    func issuerSecrets(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await World.make(
                world.server, world.admin, "issuers",
                [
                    "merchant_id": .string(world.merchant), "issuer": "https://partner.example",
                    "secret": "a secret of at least thirty-two bytes", "algorithms": ["HS256"],
                ])
            let id = try made.require("id")
            let changed = try await world.change(
                "issuers", id, ["secret": "another secret of at least thirty-two"])
            #expect(changed.status == 200)
            let event = try #require(try await events(world, "?type=issuer.changed").first)
            #expect(event["after"]?["secret"] == "changed" && !event.text.contains("another secret"))
        }
    }

    @Test("A refusal that is counted after its user was erased does not say where from", arguments: Backend.available)
    func countedLate(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["trusted_proxies": "127.0.0.1/32"]) { world in
            _ = try await world.signIn(password: "a wrong password", from: "192.0.2.77")
            _ = try await events(world)
            _ = try await world.signIn(password: "a wrong password", from: "192.0.2.77")
            _ = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            world.server.clock.advance(by: .seconds(61))
            let found = try await events(world, "?subject=\(world.user)")
            #expect(found.filter { $0["type"] == "sign_in.refused" }.count == 2)
            #expect(found.allSatisfy { !$0.text.contains("192.0.2.77") })
        }
    }
}
