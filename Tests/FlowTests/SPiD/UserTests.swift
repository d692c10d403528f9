import Authentication
import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("SPiD's API shows a user to the clients that may see them")
struct UserTests {
    /// Ada with a whole profile.
    private func profile(_ world: World) async throws {
        let profile: JSON = [
            "given_name": "Ada", "family_name": "Lovelace", "nickname": "Countess", "preferred_username": "ada",
            "gender": "female", "birthdate": "1815-12-10", "phone_number": "+44 20 7946 1815",
            "picture": "https://ada.example/face.png", "website": "https://ada.example", "zoneinfo": "Europe/London",
            "locale": "sv", "email_verified": true,
            "address": ["street_address": "12 St James's Sq", "locality": "London", "postal_code": "SW1Y 4JH"],
        ]
        try #require(try await world.change("users", world.user, profile).status == 200)
    }

    @Test("A client that the user has used sees every member of the user in SPiD's API", arguments: Backend.available)
    func full(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await profile(world)
            let loom = try await world.spidBackend(["web_origins": ["https://loom.example"]])
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            let uuid = UserUUID(try #require(UserID(world.user))).description
            for id in [world.user, uuid, uuid.uppercased(), World.email, world.user + ".json"] {
                let answer = try await world.api("user/\(TestServer.encode(id))", token)
                #expect(answer.status == 200, "\(id)")
                #expect(answer.json["object"] == "User" && answer.json["type"] == "element")
                let user = answer.data
                #expect(user["userId"] == .string(world.user) && user["id"] == .string(world.user))
                #expect(user["uuid"] == .string(uuid) && user["status"] == 1)
                #expect(user["email"] == "ada@example.com" && user["emailVerified"] == true)
                #expect(
                    user["emails"] == [
                        ["value": "ada@example.com", "type": "other", "primary": "true", "verified": "true"]
                    ])
                #expect(user["displayName"] == "Countess" && user["preferredUsername"] == "ada")
                #expect(
                    user["name"] == ["givenName": "Ada", "familyName": "Lovelace", "formatted": "Ada Lovelace"])
                #expect(user["gender"] == "female" && user["birthday"] == "1815-12-10")
                #expect(user["phoneNumber"] == "+44 20 7946 1815" && user["phoneNumberVerified"] == false)
                #expect(user["phoneNumbers"]?.array?.first?["value"] == "+44 20 7946 1815")
                #expect(
                    user["addresses"] == [
                        "home": [
                            "streetAddress": "12 St James's Sq", "postalCode": "SW1Y 4JH", "locality": "London",
                            "type": "home",
                        ]
                    ])
                #expect(user["currentLocation"] == [])
                #expect(user["photo"] == "https://ada.example/face.png" && user["url"] == "https://ada.example")
                #expect(user["utcOffset"] == "+00:00" && user["locale"] == "sv_SE")
                #expect(user["published"] == "2027-01-15 08:00:00" && user["updated"] == "2027-01-15 08:00:00")
                #expect(user["verified"] == true && user["passwordChanged"] == false)
                #expect(user["lastLoggedIn"] == "2027-01-15 08:00:00")
                #expect(user["lastAuthenticated"] == "2027-01-15 08:00:00")
                #expect(
                    user["accounts"]?[loom.id] == [
                        "id": .string(loom.id), "accountName": "Loom in SPiD's ways", "domain": "https://loom.example",
                    ])
                #expect(user["merchants"] == [1], "the merchant's number")
            }
        }
    }

    @Test("SPiD's API shows a member that the user has not filled in with SPiD's empty value")
    func empty() async throws {
        try await World.with(.sqlite) { world in
            let id = try await world.person("nobody@example.com")
            let loom = try await world.spidBackend()
            let token = try await world.signIn(with: loom, as: "nobody@example.com").require("access_token")
            let user = try await world.api("me", token).data
            #expect(user["userId"] == .string(id) && user["status"] == 0)
            #expect(user["emailVerified"] == false && user["verified"] == false)
            #expect(
                user["emails"] == [["value": "nobody@example.com", "type": "other", "primary": "true"]],
                "a text false is true to many a client")
            #expect(user["displayName"] == "" && user["gender"] == "undisclosed" && user["birthday"] == "0000-00-00")
            #expect(user["name"] == ["givenName": "", "familyName": "", "formatted": ""])
            #expect(user["phoneNumber"] == "" && user["phoneNumbers"] == [] && user["addresses"] == .object([]))
            #expect(user["photo"] == "" && user["url"] == "" && user["utcOffset"] == "+00:00")
            #expect(user["locale"] == "en_US")
        }
    }

    @Test(
        "In SPiD's API a merchant's client that the user has not used sees no contact details of the user",
        arguments: Backend.available)
    func unconnected(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await profile(world)
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            _ = try await world.signIn()
            let answer = try await world.api("user/\(world.user)", token)
            #expect(answer.status == 200)
            #expect(
                Set(answer.data.members?.map(\.name) ?? []) == [
                    "id", "userId", "uuid", "status", "displayName", "name", "gender", "preferredUsername", "utcOffset",
                    "published", "updated", "lastLoggedIn", "locale",
                ])
            // Once the user has used the client, it sees the address.
            _ = try await world.signIn(with: loom)
            #expect(try await world.api("user/\(world.user)", token).data["email"] == "ada@example.com")
        }
    }

    @Test(
        "A client sees of a user what the client named by contextClientId may see",
        arguments: Backend.available)
    func context(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (loom, other) = (try await world.spidBackend(), try await world.spidBackend())
            let token = try await world.clientToken(loom)
            _ = try await world.signIn(with: other)
            let path = "user/\(world.user)"
            #expect(try await world.api(path, token).data["email"] == nil)
            #expect(try await world.api("\(path)?contextClientId=\(other.id)", token).data["email"] != nil)
            let foreign = try await world.spidBackend(of: world.rival)
            #expect(try await world.api("\(path)?contextClientId=\(foreign.id)", token).status == 401)
        }
    }

    @Test(
        "SPiD's API does not tell a client that may not see a user whether the user exists",
        arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let rival = try await world.spidBackend(of: world.rival)
            let token = try await world.clientToken(rival)
            _ = try await world.signIn()
            for id in [world.user, "1234567890123456", World.email, "nobody@example.com"] {
                let answer = try await world.api("user/\(TestServer.encode(id))", token)
                #expect(answer.status == 403, "\(id)")
                #expect(answer.spidError == "Client is not authorized to access this user")
            }
            for id in ["0", "abc", "00000000-0000-8000-8000-0000000003e9"] {
                let answer = try await world.api("user/\(id)", token)
                #expect(answer.status == 404 && answer.spidError == "User was not found", "\(id)")
            }
            let phone = try await world.signIn().require("access_token")
            for id in [try await world.person("mary@example.com"), "1234567890123456", "abc"] {
                let answer = try await world.api("user/\(id)", phone)
                #expect(answer.status == 403, "\(id)")
                #expect(answer.spidError == "Token is not authorized to access this user.")
            }
            #expect(try await world.api("me", token).status == 401, "a client is no user")
            #expect(try await world.api("me", nil).status == 401)
        }
    }

    @Test(
        "SPiD's API shows by a user's token its scope's members, but all to a first-party SPiD client",
        arguments: Backend.available)
    func scope(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await profile(world)
            let phone = try await world.signIn(scope: "email").require("access_token")
            for path in ["me", "user/\(world.user)"] {
                let user = try await world.api(path, phone).data
                #expect(user["email"] == "ada@example.com" && user["userId"] == .string(world.user))
                #expect(user["name"] == nil && user["birthday"] == nil && user["phoneNumber"] == nil)
            }
            let stranger = try await world.spidBackend(["first_party": false])
            let narrow = try await world.signIn(scope: "profile", with: stranger).require("access_token")
            let seen = try await world.api("me", narrow).data
            #expect(seen["name"] != nil && seen["email"] == nil && seen["emails"] == nil && seen["phoneNumber"] == nil)
            let own = try await world.spidBackend()
            let wide = try await world.signIn(scope: "profile", with: own).require("access_token")
            #expect(try await world.api("me", wide).data["phoneNumber"] == "+44 20 7946 1815")
        }
    }

    @Test(
        "SPiD's API shows a changed profile or disabled user, and answers 404 if a deletion is pending",
        arguments: Backend.available)
    func changes(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            _ = try await world.signIn(with: loom)
            let path = "user/\(world.user)"
            #expect(try await world.api(path, token).data["status"] == 0)
            world.server.clock.advance(by: .minutes(1))
            try await world.change("users", world.user, ["name": "Ada King", "email_verified": true])
            let changed = try await world.api(path, token).data
            #expect(changed["name"]?["formatted"] == "Ada King" && changed["status"] == 1)
            #expect(changed["updated"] == "2027-01-15 08:01:00")
            try await world.change("users", world.user, ["disabled": true])
            #expect(try await world.api(path, token).data["status"] == -2)
            try await world.change("users", world.user, ["disabled": false])
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            let form = try await visitor.browser.open("/account/delete")
            _ = try await visitor.browser.submit(form, ["current_password": World.password])
            #expect(try await world.api(path, token).status == 404)
        }
    }

    @Test(
        "SPiD's API finds a user by e-mail address only for a client that the user has used",
        arguments: Backend.available)
    func addresses(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (loom, other) = (try await world.spidBackend(), try await world.spidBackend())
            let token = try await world.clientToken(loom)
            _ = try await world.signIn(with: other)
            #expect(try await world.api("user/\(world.user)", token).status == 200, "the merchant's, by number")
            let known = try await world.api("user/\(World.email)", token)
            let unknown = try await world.api("user/nobody@example.com", token)
            #expect(known.status == 403 && known.json["error"] == unknown.json["error"])
            let path = "user/\(World.email)/connected?clientId=\(other.id)"
            #expect(try await world.api(path, token).data == ["connected": false])
            #expect(
                try await world.api("user/\(World.email)?contextClientId=\(other.id)", token).data["userId"]
                    == .string(world.user))
            _ = try await world.signIn(with: loom)
            #expect(try await world.api("user/\(World.email)", token).data["userId"] == .string(world.user))
            #expect(try await world.api(path, token).data == ["connected": true])
        }
    }

    @Test(
        "To SPiD's API a user who is unknown, another merchant's or to be deleted is not connected",
        arguments: Backend.available)
    func unconnectedPeople(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            let rivals = try await world.person("mary@example.com")
            _ = try await world.signIn(with: world.rivalBackend, as: "mary@example.com")
            _ = try await world.signIn(with: loom)
            func isConnected(_ id: String) async throws -> JSON {
                try await world.api("user/\(id)/connected?clientId=\(loom.id)", token).data
            }
            for id in [rivals, "1234567890123456", "mary@example.com", "nobody@example.com"] {
                #expect(try await isConnected(id) == ["connected": false], "\(id)")
            }
            #expect(try await isConnected(world.user) == ["connected": true])
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            let form = try await visitor.browser.open("/account/delete")
            _ = try await visitor.browser.submit(form, ["current_password": World.password])
            for id in [world.user, World.email] {
                #expect(try await isConnected(id) == ["connected": false], "\(id)")
            }
        }
    }

    @Test(
        "SPiD's API tells a client whether a user has used it or another client of its merchant",
        arguments: Backend.available)
    func connected(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            let bea = try await world.newcomer("bea@example.com")
            let path = "user/\(bea)/connected?clientId="
            #expect(try await world.api(path + loom.id, token).data == ["connected": false])
            _ = try await world.signIn(with: loom, as: "bea@example.com")
            #expect(try await world.api(path + loom.id, token).data == ["connected": true])
            #expect(try await world.api(path + world.app.id, token).data == ["connected": false])
            _ = try await world.signIn(as: "bea@example.com")
            #expect(try await world.api(path + world.app.id, token).data == ["connected": true])
            for client in [world.rivalBackend.id, "unknown"] {
                let answer = try await world.api(path + client, token)
                #expect(answer.status == 404 && answer.spidError == "Unknown client ID")
            }
            #expect(try await world.api("user/\(world.user)/connected", token).status == 400)
            #expect(try await world.api("user/x/connected?clientId=\(loom.id)", token).status == 404)
            #expect(
                try await world.api("user/1234567890123456/connected?clientId=\(loom.id)", token).data == [
                    "connected": false
                ])
            #expect(try await world.api(path + loom.id, try await world.clientToken(world.backend)).status == 403)
        }
    }

    // MARK: Types
    // What the SDKs with typed models read: a member of another type makes the whole answer unreadable to them.

    private enum Kind: String {
        case text, number, list, map

        func holds(_ value: JSON?) -> Bool {
            switch self {
            case .text: value?.string != nil
            case .number: value?.integer != nil
            case .list: value?.array != nil
            case .map: value?.members != nil
            }
        }
    }

    /// The members that account-sdk-ios-web requires, with their types.
    private static let user: KeyValuePairs<String, Kind> = [
        "uuid": .text, "userId": .text, "status": .number, "email": .text, "emails": .list, "displayName": .text,
        "name": .map, "gender": .text, "birthday": .text, "addresses": .map, "accounts": .map, "merchants": .list,
        "phoneNumber": .text, "phoneNumbers": .list, "published": .text, "updated": .text, "lastAuthenticated": .text,
        "lastLoggedIn": .text, "locale": .text, "utcOffset": .text,
    ]

    @Test(
        "SPiD's API gives an empty profile every member, in the type that SPiD's typed SDKs read",
        arguments: Backend.available)
    func emptyUser(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend(["refresh_token_lifetime": 31_536_000])
            _ = try await world.person("nobody@example.com")
            let old = try await world.signIn(with: loom, as: "nobody@example.com")
            // Sign-ins are listed for ninety days, the token lives longer.
            world.server.clock.advance(by: .days(100))
            try await world.server.database.write { db in _ = try db.execute("DELETE FROM logins") }
            let token = try await world.refresh(try old.require("refresh_token"), as: loom).require("access_token")
            let id = try old.require("user_id")
            for path in ["me", "user/\(id)"] {
                let user = try await world.api(path, token).data
                for (name, kind) in Self.user {
                    #expect(kind.holds(user[name]), "\(path): \(name) is no \(kind): \(user[name]?.text ?? "absent")")
                }
                #expect(user["merchants"]?.array?.allSatisfy { $0.integer != nil } == true)
                #expect(user["lastLoggedIn"] == "2027-01-15 08:00:00", "the sign-in behind the token")
                #expect(user["lastAuthenticated"] == "2027-01-15 08:00:00")
            }
            // A client's own token has no sign-in behind it: SPiD's "never".
            let own = try await world.clientToken(loom)
            #expect(try await world.api("user/\(id)", own).data["lastLoggedIn"] == false)
        }
    }

    @Test("SPiD's API writes an empty map as {} and an empty list as []", arguments: Backend.available)
    func emptyCollections(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let own = try await world.clientToken(loom)
            let clients = try await world.api("clients", own)
            #expect(
                clients.data[loom.id]?["fields"] == .object([]) && clients.data[loom.id]?["redirectUris"]?.array != nil)
            #expect(try await world.api("client/\(loom.id)", own).data["fields"] == .object([]))
            #expect(try await world.api("logins", own).data == [])
            #expect(try await world.api("users", own).data == [])
            // SPiD's own empty maps about the call itself stay lists, as it writes them.
            #expect(clients.json["debug"]?["params"]?["where"] == [])
            let made = try await world.api("signup", own, ["email": "new@example.com"]).data
            #expect(made["addresses"] == .object([]) && made["merchants"] == [1])
        }
    }

    @Test(
        "A call of SPiD's API about a user does not parse the full records of the user's other clients",
        arguments: Backend.available)
    func others(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (unused, loom) = (try await world.spidBackend(), try await world.spidBackend())
            let news = try await world.spidBackend([
                "client_name": "Loom's news", "web_origins": ["https://news.example/today", "https://loom.example"],
            ])
            for client in [loom, news] { #expect(try await world.signIn(with: client).status == 200) }
            // Reading this client whole would fail.
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE clients SET openid = 'no JSON' WHERE id = \(news.id)")
            }
            let path = "user/\(world.user)"
            for client in [unused, loom] {
                let token = try await world.clientToken(client)
                for rest in ["products", "agreements", "connected?clientId=\(loom.id)"] {
                    #expect(try await world.api("\(path)/\(rest)", token).status == 200, "\(rest)")
                }
                #expect(try await world.api("\(path)/agreements/accept", token, [:]).status == 200)
            }
            let token = try await world.clientToken(loom)
            #expect(try await world.api("\(path)/trigger/newpassword", token).status == 201)
            let accounts = try await world.api(path, token).data["accounts"]
            #expect(
                accounts?[news.id] == [
                    "id": .string(news.id), "accountName": "Loom's news", "domain": "https://news.example",
                ])
            #expect(accounts?[loom.id]?["domain"] == "", "it has no page")
        }
    }
}
