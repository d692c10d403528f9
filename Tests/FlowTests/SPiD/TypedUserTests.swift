import JSON
import Storage
import TestSupport
import Testing
import Values
import Values

/// What the SDKs with typed models read: a member of another type makes the whole answer unreadable to them.
@Suite("Each member of SPiD's answers has the type that typed SDKs read") struct TypedUserTests {
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

    /// The members that account-sdk-ios-web cannot do without, and those whose type it minds.
    private static let user: KeyValuePairs<String, Kind> = [
        "uuid": .text, "userId": .text, "status": .number, "email": .text, "emails": .list, "displayName": .text,
        "name": .map, "gender": .text, "birthday": .text, "addresses": .map, "accounts": .map, "merchants": .list,
        "phoneNumber": .text, "phoneNumbers": .list, "published": .text, "updated": .text, "lastAuthenticated": .text,
        "lastLoggedIn": .text, "locale": .text, "utcOffset": .text,
    ]

    @Test(
        "A user with an empty profile and an old sign-in has every member, of the type that typed SDKs read",
        arguments: Backend.available)
    func emptyUser(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend(["refresh_token_lifetime": 31_536_000])
            _ = try await world.person("nobody@example.com")
            let old = try await world.signIn(with: loom, as: "nobody@example.com")
            // Attempts to sign in are kept for ninety days, the token lives on.
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

    @Test("An empty map in SPiD's answers is a map, and an empty list a list", arguments: Backend.available)
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
}
