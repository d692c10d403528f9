import JSON
import TestSupport
import Testing
import Values

@Suite("A merchant's own app or backend changes a user's profile")
struct UserChangeTests {
    @Test(
        "A backend, or an app with the user's token, changes only the profile members that it sends",
        arguments: Backend.available)
    func change(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let phone = try await world.signIn(with: loom).require("access_token")
            let own = try await world.clientToken(loom)
            let path = "user/\(world.user)"
            let answer = try await world.api(
                path, own,
                [
                    "displayName": "Ada Loom", "gender": "female", "birthday": "1815-12-10", "preferredUsername": "ada",
                    "url": "https://ada.example/", "photo": "https://ada.example/me.png",
                    "name": #"{"givenName":"Ada","familyName":"Loom"}"#, "addresses": #"{"home":{"country":"GB"}}"#,
                ])
            #expect(answer.status == 200 && answer.json["object"] == "User", "\(answer)")
            let user = answer.data
            #expect(user["userId"] == .string(world.user) && user["displayName"] == "Ada Loom")
            #expect(user["gender"] == "female" && user["birthday"] == "1815-12-10")
            #expect(user["addresses"]?["home"]?["country"] == "GB" && user["url"] == "https://ada.example/")

            let second = try await world.api(
                path, phone, ["name": #"{"family_name":"Lovelace"}"#, "phone_number": "+44 1", "gender": "undisclosed"])
            #expect(second.status == 200, "\(second)")
            #expect(
                second.data["name"] == ["givenName": "Ada", "familyName": "Lovelace", "formatted": "Ada Lovelace"])
            #expect(second.data["phoneNumber"] == "+44 1" && second.data["gender"] == "undisclosed")
            #expect(second.data["birthday"] == "1815-12-10" && second.data["displayName"] == "Ada Loom")
            let shown = try await world.server.get("/admin/v1/users/\(world.user)", bearer: world.admin).json
            #expect(shown["name"] == "Ada Lovelace", "what clients of OpenID Connect show")
            let whole = try await world.api(path, phone, ["name": "Countess Ada", "displayName": ""])
            #expect(whole.data["name"] == ["givenName": "", "familyName": "", "formatted": "Countess Ada"])
            #expect(whole.data["displayName"] == "Ada Loom", "an empty parameter counts as left out")
            #expect(try await world.api(path, own, [:]).data == whole.data)
        }
    }

    @Test(
        "A change of one part of a name keeps the other part that a concurrent call changed",
        arguments: Backend.available)
    func parts(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            let path = "user/\(world.user)"
            _ = try await world.api(path, token, ["name": #"{"givenName":"Ada","familyName":"Byron"}"#])
            let interruptions = world.server.interruptions
            interruptions.interrupt {
                _ = try await world.api(path, token, ["name": #"{"givenName":"Augusta"}"#])
            }
            let last = try await world.api(path, token, ["name": #"{"familyName":"Lovelace"}"#])
            #expect(interruptions.wasInterrupted)
            #expect(last.data["name"]?["formatted"] == "Augusta Lovelace", "\(last)")
        }
    }

    @Test(
        "An address, its verification and the password cannot be changed through SPiD's API",
        arguments: Backend.available)
    func sensitive(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            let path = "user/\(world.user)"
            let before = try await world.api(path, token).data
            let bad = [
                ("email", "mallory@example.com"), ("password", "a quite unlikely loom"), ("emailVerified", "1"),
                ("status", "-2"), ("attributes", "{}"), ("disabled", "1"), ("deviceData", "x"), ("acceptTerms", "1"),
                ("gender", "other"), ("birthday", "yesterday"), ("photo", "javascript:x"), ("addresses", "x"),
            ]
            for (name, value) in bad {
                let form = [("displayName", "Mallory"), (name, value)]
                let answer = try await world.server.post("/api/2/" + path, form: form, bearer: token)
                #expect(answer.status == 400 && answer.spidError?.string?.contains(name) == true, "\(name): \(answer)")
            }
            #expect(try await world.api(path, token).data == before)
        }
    }

    @Test(
        "SPiD's API refuses a change of a user to a client that may not see the user in full",
        arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let phone = try await world.signIn(with: loom).require("access_token")
            let path = "user/\(world.user)"
            let form: KeyValuePairs = ["displayName": "Mallory"]
            func status(_ client: World.Actor) async throws -> Int {
                try await world.api(path, try await world.clientToken(client), form).status
            }
            #expect(try await status(try await world.spidBackend()) == 403, "used another client of the merchant only")
            #expect(try await status(try await world.spidBackend(of: world.rival)) == 403)
            #expect(try await status(try await world.spidBackend(["first_party": false])) == 403)
            #expect(try await status(world.backend) == 403, "not SPiD-compatible")
            let strict = try await world.signIn().require("access_token")
            #expect(try await world.api(path, strict, form).status == 403)
            let other = try await world.newcomer("bea@example.com")
            #expect(try await world.api("user/\(other)", phone, form).status == 403)
            #expect(try await world.api("user/\(other)", try await world.clientToken(loom), form).status == 403)
            #expect(try await world.api(path, nil, form).status == 401)
            #expect(try await world.api("me", phone).data["displayName"] != "Mallory")
        }
    }

    @Test("SPiD's API changes one user twenty times, then every thirty seconds; an equal value does not count")
    func throttled() async throws {
        try await World.with(.sqlite) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            func change(_ number: Int) async throws -> Int {
                try await world.api("user/\(world.user)", token, ["displayName": "Ada \(number)"]).status
            }
            for number in 1...20 { #expect(try await change(number) == 200) }
            #expect(try await change(21) == 429)
            #expect(try await change(20) == 200)
            world.server.clock.advance(by: .seconds(30))
            #expect(try await change(21) == 200)
        }
    }
}
