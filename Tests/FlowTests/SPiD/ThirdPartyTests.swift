import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Third parties: SPiD's API shows them no more than users allowed")
struct ThirdPartyTests {
    @Test(
        "In SPiD's API a third party's own token shows only those user members that the user allowed",
        arguments: Backend.available)
    func unallowedMembers(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["given_name": "Ada", "phone_number": "+44 20 7946 1815"])
            let stranger = try await world.spidBackend(["first_party": false])
            let token = try await world.clientToken(stranger)
            _ = try await world.signIn()
            let path = "user/\(world.user)"
            #expect(try await world.api(path, token).status == 403, "a user of the merchant's other apps only")

            _ = try await world.signIn(scope: "profile", with: stranger)
            let named = try await world.api(path, token).data
            #expect(named["name"]?["givenName"] == "Ada" && named["birthday"] != nil)
            #expect(named["email"] == nil && named["emails"] == nil && named["phoneNumber"] == nil)

            _ = try await world.signIn(scope: "email", with: stranger)
            #expect(try await world.api(path, token).data["email"] == "ada@example.com")

            // Without a remembered consent, it ends with the tokens.
            world.server.clock.advance(by: .days(31))
            let later = try await world.api(path, try await world.clientToken(stranger)).data
            #expect(later["userId"] == .string(world.user) && later["name"] == nil && later["email"] == nil)
        }
    }

    @Test("A third party gets 403 at `/user/{id}` for a user who allowed it nothing", arguments: Backend.available)
    func plainUser(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["given_name": "Ada"])
            let stranger = try await world.confidential(["first_party": false])
            let token = try await world.clientToken(stranger)
            _ = try await world.signIn()
            let path = "/user/\(world.user)"
            #expect(try await world.server.get(path, bearer: token).status == 403)
            _ = try await world.signIn(scope: "profile", with: stranger)
            let seen = try await world.server.get(path, bearer: token)
            #expect(seen.status == 200 && seen.json["given_name"] == "Ada" && seen.json["email"] == nil)
            let own = try await world.server.get(path, bearer: try await world.clientToken(world.backend))
            #expect(own.json["email"] == "ada@example.com")
        }
    }

    @Test(
        "SPiD's lists show a third party neither names nor addresses, and it cannot search by them",
        arguments: Backend.available)
    func lists(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["given_name": "Ada"])
            let stranger = try await world.spidBackend(["first_party": false])
            let own = try await world.spidBackend()
            for client in [stranger, own] { _ = try await world.signIn(with: client) }
            for (client, isOwn) in [(stranger, false), (own, true)] {
                let token = try await world.clientToken(client)
                let users = try await world.api("users", token).data.array ?? []
                #expect(users.map { $0["userId"] } == [.string(world.user)])
                #expect((users.first?["name"] != nil) == isOwn)
                let logins = try await world.api("logins", token).data.array ?? []
                #expect(logins.map { $0["email"] } == [isOwn ? "ada@example.com" : ""])
                for path in [
                    "users?email=\(World.email)", "users?query=ada", "logins?filters=merchant",
                    "users?filters=merchant", "search/users?id=\(world.user)&filters=merchant",
                ] {
                    #expect(try await world.api(path, token).status == (isOwn ? 200 : 403), "\(path)")
                }
                #expect(try await world.api("user/\(World.email)", token).status == (isOwn ? 200 : 403))
            }
        }
    }

    @Test(
        "SPiD's API does not tell a third party which users the merchant's other apps have, nor when they sign in",
        arguments: Backend.available)
    func otherApps(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.spidBackend(["first_party": false])
            let own = try await world.spidBackend()
            _ = try await world.signIn(with: own)
            let (token, ownToken) = (try await world.clientToken(stranger), try await world.clientToken(own))
            // Users of other apps look like unknown users, and other apps like those of other merchants.
            for id in [world.user, "1234567890123456"] {
                let answer = try await world.api("user/\(id)", token)
                #expect(answer.status == 403 && answer.data == .null, "\(id)")
            }
            let path = "user/\(world.user)/connected?clientId="
            #expect(try await world.api(path + own.id, token).status == 404)
            #expect(try await world.api(path + own.id, ownToken).data == ["connected": true])
            #expect(try await world.api(path + stranger.id, token).data == ["connected": false])

            _ = try await world.signIn(with: stranger)
            #expect(try await world.api(path + stranger.id, token).data == ["connected": true])
            world.server.clock.advance(by: .minutes(1))
            _ = try await world.signIn(with: own)
            for path in ["user/\(world.user)", "users"] {
                let (seen, whole) = (try await world.api(path, token).data, try await world.api(path, ownToken).data)
                #expect(last(in: seen) == "2027-01-15 08:00:00", "\(path)")
                #expect(last(in: whole) == "2027-01-15 08:01:00", "\(path)")
            }
        }
    }

    @Test(
        "A contextClientId in SPiD's API cannot name a client that is self-registered or has pairwise subjects",
        arguments: Backend.available)
    func strangersContext(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let registered = try await world.confidential([:])
            try await world.server.database.write { db in
                _ = try db.execute(
                    "UPDATE clients SET registration_token = 'x', first_party = 0 WHERE id = \(registered.id)")
            }
            let pairwise = try await world.confidential(["subject_type": "pairwise"])
            for other in [registered, pairwise] {
                #expect(try await world.signIn(with: other).status == 200)
                let context = "contextClientId=\(other.id)"
                for path in [
                    "user/\(world.user)?", "users?", "search/users?email=\(World.email)&", "logins?",
                    "user/\(world.user)/dataobjects?", "user/\(world.user)/trigger/newpassword?",
                ] {
                    #expect(try await world.api(path + context, token).status == 401, "\(path)")
                }
                let changed = try await world.server.post(
                    "/api/2/user/\(world.user)", ["name": "Mallory", "contextClientId": other.id], bearer: token)
                #expect(changed.status == 401, "\(changed)")
                let kept = try await world.api(
                    "user/\(world.user)/dataobject/k", token, ["value": "x", "contextClientId": other.id])
                #expect(kept.status == 401, "\(kept)")
            }
        }
    }

    @Test("A self-registered client is not among its merchant's clients in SPiD's API", arguments: Backend.available)
    func strangersName(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let other = try await world.confidential([:])
            #expect(try await world.api("clients", token).data[other.id] != nil)
            try await world.server.database.write { db in
                _ = try db.execute(
                    "UPDATE clients SET registration_token = 'x', first_party = 0 WHERE id = \(other.id)")
            }
            let clients = try await world.api("clients", token)
            #expect(clients.status == 200 && clients.data[other.id] == nil && clients.data[world.app.id] != nil)
            for path in ["client/\(other.id)", "user/\(world.user)/connected?clientId=\(other.id)"] {
                #expect(try await world.api(path, token).status == 404, "\(path)")
            }
        }
    }

    /// The last sign-in of one user, or of the first in a list.
    private func last(in data: JSON) -> String? { (data.array?.first ?? data)["lastLoggedIn"]?.string }

    @Test(
        "A sign-in at a self-registered client does not count as the user's last sign-in at the merchant",
        arguments: Backend.available)
    func registeredItself(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.spidBackend()
            _ = try await world.signIn(with: own)
            let other = try await world.confidential([:])
            try await world.server.database.write { db in
                _ = try db.execute(
                    "UPDATE clients SET registration_token = 'x', first_party = 0 WHERE id = \(other.id)")
            }
            world.server.clock.advance(by: .minutes(1))
            #expect(try await world.signIn(with: other).status == 200)
            let token = try await world.clientToken(own)
            for path in ["user/\(world.user)", "users"] {
                #expect(try await last(in: world.api(path, token).data) == "2027-01-15 08:00:00", "\(path)")
            }
        }
    }

    @Test(
        "A third party's contextClientId in SPiD's API cannot name another client of its merchant",
        arguments: Backend.available)
    func contextClient(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.spidBackend(["first_party": false])
            let own = try await world.spidBackend()
            let token = try await world.clientToken(stranger)
            for client in [own, stranger] { _ = try await world.signIn(with: client) }
            let path = "user/\(world.user)?contextClientId="
            let refused = try await world.api(path + own.id, token)
            #expect(refused.status == 401 && refused.data == .null)
            #expect(try await world.api(path + stranger.id, token).status == 200)
            // The merchant's own client may.
            try await world.change("clients", stranger.id, ["first_party": true])
            world.server.clock.advance(by: .seconds(1))
            #expect(try await world.api(path + own.id, token).data["email"] == "ada@example.com")
        }
    }

    @Test("A third party sees no other client of its merchant in SPiD's API", arguments: Backend.available)
    func clients(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.spidBackend(["first_party": false])
            let own = try await world.spidBackend()
            let (token, ownToken) = (try await world.clientToken(stranger), try await world.clientToken(own))
            #expect(try await world.api("clients", token).data.members?.map(\.name) == [stranger.id])
            #expect(try await world.api("clients?offset=1", token).data == .object([]))
            #expect(try await world.api("client/\(own.id)", token).status == 404)
            #expect(try await world.api("client/\(stranger.id)", token).status == 200)
            #expect(try await world.api("clients", ownToken).data.members?.count ?? 0 > 2)
            #expect(try await world.api("client/\(stranger.id)", ownToken).status == 200)
        }
    }

    @Test(
        "A merchant can neither see nor change a user who has used only a third party's client",
        arguments: Backend.available)
    func notTheMerchants(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.spidBackend(["first_party": false])
            let own = try await world.clientToken(try await world.spidBackend())
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let bea = try await world.newcomer("bea@example.com")
            #expect(try await world.signIn(scope: "profile", with: stranger, as: "bea@example.com").status == 200)
            let path = "/admin/v1/users/\(bea)"
            #expect(try await world.server.get(path, bearer: administrator).status == 404)
            let change = try await world.server.send("PATCH", path, json: ["name": "Changed"], bearer: administrator)
            #expect(change.status == 404)
            let listed = try await world.server.get("/admin/v1/users", bearer: administrator)
            #expect(!listed.body.contains(bea))
            #expect(try await world.server.get("/user/\(bea)", bearer: own).status == 403)
            #expect(try await world.api("user/\(bea)", own).status == 403)
            #expect(try await world.api("user/\(bea)?contextClientId=\(stranger.id)", own).status == 401)
            // Making the client first-party is refused.
            let owned = try await world.server.send(
                "PATCH", "/admin/v1/clients/\(stranger.id)", json: ["first_party": true], bearer: administrator)
            #expect(owned.status == 409 && owned.body.contains("third party"), "\(owned)")
            #expect(try await world.server.get(path, bearer: administrator).status == 404)
            // A user who has used the merchant's own app is the merchant's.
            _ = try await world.signIn(as: "bea@example.com")
            #expect(try await world.server.get(path, bearer: administrator).status == 200)
        }
    }

    @Test(
        "A merchant that removes a user leaves the user's tokens and consents of self-registered clients",
        arguments: Backend.available)
    func disconnection(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.register()
            let tokens = try await world.signInToRegistered(stranger.actor)
            let phone = try await world.signIn()
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let gone = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: administrator)
            #expect(gone.status == 204)
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.isLive(try tokens.require("access_token")))
            let consents = try await world.server.database.rows("SELECT client_id FROM consents")
            #expect(try consents.map { try $0.get("client_id", as: String.self) } == [stranger.id])
        }
    }

    @Test(
        "A merchant's administrator cannot give a third party more attributes of users than the platform did",
        arguments: Backend.available)
    func attributes(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let (risk, roles): (JSON, JSON) = (["risk": "risk", "roles": "groups"], ["roles": "groups"])
            let path = "/admin/v1/clients/\(try await world.stranger().id)"
            func give(_ members: JSON, by token: String) async throws -> Answer {
                try await world.server.send("PATCH", path, json: members, bearer: token)
            }
            expectProblem(try await give(["id_token_claims": risk], by: administrator), 400, member: "id_token_claims")
            expectProblem(
                try await World.make(
                    world.server, administrator, "clients",
                    [
                        "client_name": "x", "redirect_uris": ["https://x.example/cb"], "first_party": false,
                        "id_token_claims": roles,
                    ]),
                400, member: "id_token_claims")
            #expect(try await give(["id_token_claims": risk], by: world.admin).status == 200)
            #expect(
                try await give(["client_name": "y"], by: administrator).status == 200, "the platform's choice stays")
            #expect(try await give(["id_token_claims": roles], by: administrator).status == 200, "less of it")
            expectProblem(try await give(["id_token_claims": risk], by: administrator), 400, member: "id_token_claims")
            // The merchant's own client that becomes a third party's.
            let own = "/admin/v1/clients/\(world.app.id)"
            let has = try await world.server.send("PATCH", own, json: ["id_token_claims": risk], bearer: administrator)
            #expect(has.status == 200)
            let given = try await world.server.send("PATCH", own, json: ["first_party": false], bearer: administrator)
            expectProblem(given, 400, member: "id_token_claims")
        }
    }

    // MARK: Scope

    @Test(
        "A third party sees the same of a user at `/user/{id}` whether or not they use the merchant's own app",
        arguments: Backend.available)
    func ownApp(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.confidential(["first_party": false])
            let token = try await world.clientToken(stranger)
            func seen() async throws -> Answer {
                try await world.server.get("/user/\(world.user)", bearer: token)
            }
            _ = try await world.signIn(scope: "email", with: stranger)
            let before = try await seen()
            #expect(before.status == 200 && before.json["email"] == "ada@example.com", "\(before)")
            _ = try await world.signIn()
            let during = try await seen()
            #expect(during.status == 200 && during.json == before.json, "\(during)")
            var visitor = try await world.signedIn()
            #expect(try await visitor.change("apps/revoke", ["client": world.app.id]).status == 303)
            let after = try await seen()
            #expect(after.status == 200 && after.json == before.json, "\(after)")

            let other = try await world.person("bea@example.com")
            _ = try await world.signIn(as: "bea@example.com")
            #expect(try await world.server.get("/user/\(other)", bearer: token).status == 403)
        }
    }

    @Test(
        "A scope withdrawn from a third party is no longer readable by it or shown on the account page",
        arguments: Backend.available)
    func narrowed(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["given_name": "Ada"])
            let stranger = try await world.spidBackend(["first_party": false])
            _ = try await world.signIn(scope: "profile email", with: stranger)
            var visitor = try await world.signedIn()
            for (scope, hasEmail) in [("profile email", true), ("profile", false)] {
                try await world.change("clients", stranger.id, ["scope": .string(scope)])
                world.server.clock.advance(by: .seconds(1))
                let token = try await world.clientToken(stranger)
                let told = try await world.api("user/\(world.user)", token).data
                #expect(told["name"]?["givenName"] == "Ada" && (told["email"] != nil) == hasEmail, "\(scope): \(told)")
                let page = try await visitor.browser.open("/account").words
                #expect(page.contains("See your name and profile"))
                #expect(page.contains("See your e-mail address") == hasEmail, "\(scope)")
            }
        }
    }

    // MARK: With a user's token or its own

    @Test(
        "A third party that was allowed only openid cannot list which other apps the user has",
        arguments: Backend.available)
    func me(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            let stranger = try await world.stranger()
            let token = try await world.signInToRegistered(stranger, ["scope": "openid"]).require("access_token")
            let seen = try await world.api("me", token)
            #expect(seen.status == 200)
            #expect(seen.data.members?.map(\.name) == ["id", "userId", "uuid", "status"])
            let named = try await world.signInToRegistered(stranger, ["scope": "openid profile"])
            let more = try await world.api("me", try named.require("access_token")).data
            #expect(more["displayName"] == "Ada Lovelace" && more["email"] == nil && more["accounts"] == nil)
        }
    }

    @Test(
        "A third party that is not SPiD-compatible can neither list a user's logins nor accept terms for them",
        arguments: Backend.available)
    func acting(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": AgreementTests.platform]) { world in
            let stranger = try await world.stranger()
            let token = try await world.signInToRegistered(stranger, ["scope": "openid"]).require("access_token")
            let user = "user/\(world.user)"
            for path in [user, user + "/logins", user + "/agreements", "terms"] {
                let refused = try await world.api(path, token)
                #expect(refused.status == 403 && refused.data == .null, "\(path)")
                #expect(refused.spidError?.string?.contains("SPiD compatibility") == true, "\(path)")
            }
            #expect(try await world.api(user + "/agreements/accept", token, [:]).status == 403)
            let phone = try await world.signIn().require("access_token")
            let agreements = try await world.api(user + "/agreements", phone).data["agreements"]
            #expect(agreements?["platform"] == false)
            // It may sign out.
            #expect(try await world.api("logout", token).status == 200)
            #expect(try await !world.isLive(token))
        }
    }

    @Test(
        "Without SPiD compatibility, a client's own token neither reads users in SPiD's API nor accepts terms",
        arguments: Backend.available)
    func own(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": AgreementTests.platform]) { world in
            _ = try await world.signIn(with: world.backend)
            let token = try await world.clientToken(world.backend)
            let user = "user/\(world.user)"
            let paths = ["", "/logins", "/products", "/agreements", "/varnishId", "/required_fields", "/dataobjects"]
            for path in paths.map({ user + $0 }) + ["user/\(World.email)"] {
                let refused = try await world.api(path, token)
                #expect(refused.status == 403 && refused.data == .null, "\(path)")
                #expect(refused.spidError?.string?.contains("SPiD compatibility") == true, "\(path)")
            }
            #expect(try await world.api(user + "/agreements/accept", token, [:]).status == 403)
            #expect(try await world.api("terms", token).status == 200, "they are about no user")
            let asUser = try await world.signIn(with: world.backend).require("access_token")
            let agreements = try await world.api(user + "/agreements", asUser).data["agreements"]
            #expect(agreements?["platform"] == false)
            #expect(try await world.api("logout", token).status == 200)
        }
    }

    @Test(
        "A SPiD-compatible third party sees only itself among a user's apps, and cannot accept terms for them",
        arguments: Backend.available)
    func inSPiDsWays(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": AgreementTests.platform]) { world in
            _ = try await world.signIn()
            let stranger = try await world.spidBackend(["first_party": false])
            let own = try await world.spidBackend()
            for (client, apps) in [(stranger, [stranger.id]), (own, [world.app.id, own.id])] {
                let token = try await world.signIn(with: client).require("access_token")
                let users = try await world.api("me", token).data["accounts"]?.members?.map(\.name)
                #expect(Set(users ?? []) == Set(apps))
                let accepted = try await world.api("user/\(world.user)/agreements/accept", token, [:])
                #expect(accepted.status == (client.id == own.id ? 200 : 403))
            }
        }
    }
}
