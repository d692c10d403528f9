import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A replayed refresh token ends its family")
struct RefreshReplayTests {
    @Test(
        "A rotated refresh token sent again after its successor's use ends the family; a new sign-in works",
        arguments: Backend.available)
    func thiefSecond(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stolen = try await world.signIn().require("refresh_token")
            let owner = try await world.refresh(stolen)
            #expect(try await world.isLive(try owner.require("access_token")))

            #expect(try await world.refresh(stolen).error == "invalid_grant")
            #expect(try await !world.isLive(try owner.require("access_token")))
            #expect(try await world.refresh(try owner.require("refresh_token")).error == "invalid_grant")
            #expect(try await world.signIn().status == 200)
        }
    }

    @Test(
        "A refresh token sent again after the new access token's use ends the old tokens and the new ones",
        arguments: Backend.available)
    func thiefFirst(backend: Backend) async throws {
        try await World.with(backend) { world in
            let shared = try await world.signIn()
            let thief = try await world.refresh(try shared.require("refresh_token"))
            #expect(try await world.isLive(try thief.require("access_token")))

            #expect(try await world.refresh(try shared.require("refresh_token")).error == "invalid_grant")
            #expect(try await !world.isLive(try thief.require("access_token")))
            #expect(try await world.refresh(try thief.require("refresh_token")).error == "invalid_grant")
            #expect(try await !world.isLive(try shared.require("access_token")))
        }
    }

    @Test(
        "Two parties who repeat each other's unconfirmed rotations lose the token family at a later refresh",
        arguments: Backend.available)
    func thiefInTheWindow(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stolen = try await world.signIn().require("refresh_token")
            let owner = try await world.refresh(stolen)
            let thief = try await world.refresh(stolen)
            #expect(thief.json["refresh_token"] == owner.json["refresh_token"])
            // One of the two access tokens is dead, so the owner notices and refreshes.
            #expect(try await !world.isLive(try owner.require("access_token")))
            let shared = try owner.require("refresh_token")
            let next = try await world.refresh(shared)
            #expect(try await world.isLive(try next.require("access_token")))
            // The next of the two to use the shared token ends the family for both.
            #expect(try await world.refresh(shared).error == "invalid_grant")
            #expect(try await !world.isLive(try next.require("access_token")))
            #expect(try await !world.isLive(try thief.require("access_token")))
        }
    }

    @Test(
        "A refresh token that was rotated several times ago ends the token family when it is used",
        arguments: Backend.available)
    func ancestor(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn().require("refresh_token")
            var last = try await world.refresh(first)
            for _ in 1...3 { last = try await world.refresh(try last.require("refresh_token")) }
            #expect(try await world.refresh(first).error == "invalid_grant")
            #expect(try await world.refresh(try last.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test(
        "A rotated refresh token ends the token family when it is used, even if it has expired",
        arguments: Backend.available)
    func expiredAncestor(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn().require("refresh_token")
            let second = try await world.refresh(first)
            #expect(try await world.isLive(try second.require("access_token")))
            world.server.clock.advance(by: .seconds(29 * 86400))
            let third = try await world.refresh(try second.require("refresh_token"))
            world.server.clock.advance(by: .seconds(2 * 86400))
            #expect(try await world.refresh(first).error == "invalid_grant")
            #expect(try await world.refresh(try third.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test(
        "A replayed refresh token ends the web views that its token family bought, and no other sign-in",
        arguments: Backend.available)
    func reach(backend: Backend) async throws {
        try await World.with(backend) { world in
            let tablet = try await world.signIn()
            let phone = try await world.signIn()
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
            #expect(try await webview.isSignedIn())

            let old = try phone.require("refresh_token")
            let next = try await world.refresh(old)
            #expect(try await world.isLive(try next.require("access_token")))
            #expect(try await world.refresh(old).error == "invalid_grant")
            #expect(try await !webview.isSignedIn())
            #expect(try await world.isLive(try tablet.require("access_token")))
            #expect(try await world.refresh(try tablet.require("refresh_token")).status == 200)
        }
    }

    @Test(
        "Another client, even of the same merchant, neither uses a refresh token nor ends its family by it",
        arguments: Backend.available)
    func otherClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn()
            let old = try first.require("refresh_token")
            let next = try await world.refresh(old)
            #expect(try await world.isLive(try next.require("access_token")))
            for stranger in [world.backend, world.rivalBackend] {
                let asked = try await world.refresh(try next.require("refresh_token"), as: stranger)
                #expect(asked.status == 400)
                #expect(asked.error == "invalid_grant")
                // Even a confirmed predecessor is no replay when another client sends it.
                #expect(try await world.refresh(old, as: stranger).error == "invalid_grant")
            }
            #expect(try await world.isLive(try next.require("access_token")))
            #expect(try await world.refresh(try next.require("refresh_token")).status == 200)
        }
    }

    /// The first and the newest token of a chain, of which the first is forgotten.
    private func chain(_ world: World) async throws -> (first: String, newest: String) {
        let first = try await world.signIn().require("refresh_token")
        let second = try await world.refresh(first).require("refresh_token")
        let newest = try await world.refresh(second).require("refresh_token")
        let fingerprint = Secret<World>(first).fingerprint.text
        let gone = try await world.server.database.write { db in
            try db.execute("DELETE FROM refresh_tokens WHERE fingerprint = \(fingerprint)")
        }
        #expect(gone == 1)
        return (first, newest)
    }

    @Test(
        "A rotated refresh token whose row is deleted still ends its family, and no other, when it is used",
        arguments: Backend.available)
    func replay(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (first, newest) = try await chain(world)
            let other = try await world.signIn().require("refresh_token")
            #expect(try await world.refresh(first).error == "invalid_grant")
            #expect(world.server.log.says("refresh_token_replayed"))
            #expect(try await world.refresh(newest).error == "invalid_grant")
            #expect(try await world.refresh(other).status == 200)
            // A second use: the family has ended.
            #expect(try await world.refresh(first).error == "invalid_grant")
        }
    }

    @Test("Revoking a rotated refresh token whose row is deleted ends its token family", arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (first, newest) = try await chain(world)
            let form = [("token", first), ("client_id", world.app.id)]
            #expect(try await world.server.post("/oauth/revoke", form: form).status == 200)
            #expect(try await world.refresh(newest).error == "invalid_grant")
        }
    }

    @Test(
        "A refresh token whose row is deleted ends nothing when altered or sent by another client",
        arguments: Backend.available)
    func foreign(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (first, newest) = try await chain(world)
            let other = try await world.signIn().require("refresh_token")
            #expect(first.utf8.count == other.utf8.count && first.utf8.count > 55)
            let last = try #require(first.last)
            let altered = first.dropLast() + (last == "A" ? "E" : "A")
            let mixed = other.prefix(55) + first.dropFirst(55)
            for text in [String(altered), String(first.prefix(55)), first + "AAAA", String(mixed)] {
                #expect(try await world.refresh(text).error == "invalid_grant", "\(text)")
            }
            #expect(try await world.refresh(first, as: world.rivalBackend).status == 400)
            let form = [("token", first)]
            let revoked = try await world.server.post("/oauth/revoke", form: form, basic: world.rivalBackend.basic)
            #expect(revoked.status == 200)
            #expect(try await world.refresh(newest).status == 200)
        }
    }

    private static let resource = "https://api.example/orders"

    @Test("A replayed refresh token ends the family even if the client has lost a scope", arguments: Backend.available)
    func lostScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient(.generate(.es256), ["rotate_refresh_tokens": true])
            let password: KeyValuePairs = [
                "grant_type": "password", "username": World.email, "password": World.password,
            ]
            // A live token is refreshed with the remaining scope.
            try await expectEnd(
                world, refused: nil, signIn: { try await client.ask(nil, password) },
                refresh: { try await client.ask(nil, ["grant_type": "refresh_token", "refresh_token": $0]) },
                while: { isOn in
                    try await world.change("clients", client.id, ["scope": isOn ? "profile" : "profile email"])
                })
        }
    }

    @Test(
        "A replayed refresh token ends the family even if the client has lost the token's resource",
        arguments: Backend.available)
    func lostResource(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential([
                "resources": [.string(Self.resource)], "rotate_refresh_tokens": true,
            ])
            let password: KeyValuePairs = [
                "grant_type": "password", "username": World.email, "password": World.password,
                "resource": Self.resource,
            ]
            try await expectEnd(
                world, refused: "invalid_target", signIn: { try await world.token(password, as: client) },
                refresh: { try await world.refresh($0, as: client) },
                while: { isOn in
                    try await world.change("clients", client.id, ["resources": isOn ? [] : [.string(Self.resource)]])
                })
        }
    }

    @Test(
        "A replayed refresh token ends the family even if the request asks for another resource",
        arguments: Backend.available)
    func anotherResource(backend: Backend) async throws {
        try await World.with(backend) { world in
            func refresh(_ token: String) async throws -> Answer {
                try await world.token(
                    ["grant_type": "refresh_token", "refresh_token": token, "resource": Self.resource], as: world.app)
            }
            let copied = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(copied).require("refresh_token")
            let last = try await world.refresh(next).require("refresh_token")
            let other = try await world.signIn().require("refresh_token")
            #expect(try await refresh(other).error == "invalid_target")
            #expect(try await refresh(copied).error == "invalid_grant")
            #expect(world.server.log.says("refresh_token_replayed"))
            #expect(try await world.refresh(last).error == "invalid_grant")
            #expect(try await world.refresh(other).status == 200)
        }
    }

    @Test(
        "A replayed refresh token ends the family even while the issuer that signed the user in is disabled",
        arguments: Backend.available)
    func disabledIssuer(backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            let issuer = try await story.trust(host)
            try await expectEnd(
                story.world, refused: "invalid_grant", signIn: { try await story.signIn(at: host) },
                refresh: { try await story.world.refresh($0, as: story.app) },
                while: { isOn in try await story.world.change("issuers", issuer, ["disabled": .bool(isOn)]) })
        }
    }

    @Test(
        "A replayed refresh token ends the family even while the client requires a verified e-mail address",
        arguments: Backend.available)
    func unverified(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await expectEnd(
                world, refused: "invalid_grant", signIn: { try await world.signIn() },
                refresh: { try await world.refresh($0) },
                while: { isOn in
                    try await world.change("clients", world.app.id, ["require_verified_email": .bool(isOn)])
                })
        }
    }

    @Test(
        "A refresh token replayed after the repeat window ends the family even if it asks for too wide a scope",
        arguments: Backend.available)
    func late(backend: Backend) async throws {
        try await World.with(backend) { world in
            let copied = try await world.signIn(scope: "profile").require("refresh_token")
            let last = try await world.refresh(copied).require("refresh_token")
            world.server.clock.advance(by: .seconds(600))
            #expect(try await world.refresh(copied, scope: "profile email").error == "invalid_scope")
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await world.refresh(copied, scope: "profile email").error == "invalid_grant")
            #expect(world.server.log.says("refresh_token_replayed"))
            #expect(try await world.refresh(last).error == "invalid_grant")
        }
    }

    /// Expects that a chain ends when its first token is presented while `change` holds, and no other chain does.
    /// `refused`: how a token that is good is refused meanwhile, if it is.
    private func expectEnd(
        _ world: World, refused: String?, signIn: () async throws -> Answer,
        refresh: (String) async throws -> Answer, while change: (Bool) async throws -> Answer
    ) async throws {
        let copied = try await signIn().require("refresh_token")
        let next = try await refresh(copied).require("refresh_token")
        let last = try await refresh(next).require("refresh_token")
        let other = try await signIn().require("refresh_token")
        let changed = try await change(true)
        #expect(changed.status == 200, "\(changed)")
        let good = try await refresh(other)
        #expect(good.error == refused, "\(good)")
        #expect(!world.server.log.says("refresh_token_replayed"))

        let replay = try await refresh(copied)
        #expect(replay.status == 400 && replay.error == "invalid_grant", "\(replay)")
        #expect(world.server.log.says("refresh_token_replayed"))
        let undone = try await change(false)
        #expect(undone.status == 200, "\(undone)")
        let ended = try await refresh(last)
        #expect(ended.status == 400 && ended.error == "invalid_grant", "\(ended)")
        let kept = try await refresh(other)
        #expect(kept.status == 200, "\(kept)")
    }
}
