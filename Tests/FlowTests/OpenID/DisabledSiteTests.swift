import JSON
import TestSupport
import Testing
import Values

@Suite("Back-channel logout of a client that is disabled")
struct DisabledSiteTests {
    @Test(
        "A client that is disabled when a browser signs out is told once it is enabled again",
        arguments: Backend.available, ["clients", "merchants"])
    func later(backend: Backend, kind: String) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let told = try await world.notified(at: receiver)
            let id = kind == "clients" ? told.site.actor.id : world.merchant
            var browser = Browser(world.server)
            let hint = try await told.site.signIn(in: &browser).require("id_token")
            try await world.change(kind, id, ["disabled": true])
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await !browser.isSignedIn())
            try await world.untilPostponed(.notice)

            try await world.change(kind, id, ["disabled": false])
            world.server.clock.advance(by: .minutes(2))
            #expect(try await told.next()["sid"] == (try TakenApart(hint).claims["sid"]))
        }
    }

    @Test(
        "A logout notice that waits for a disabled client is dropped when the client is deleted",
        arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let told = try await world.notified(at: receiver)
            let id = told.site.actor.id
            var browser = Browser(world.server)
            _ = try await told.site.signIn(in: &browser)
            try await world.change("clients", id, ["disabled": true])
            _ = try await browser.submit(try await browser.open("/logout"))
            try await world.untilPostponed(.notice)

            #expect(
                try await world.server.send("DELETE", "/admin/v1/clients/\(id)", bearer: world.admin).status == 204)
            world.server.clock.advance(by: .minutes(2))
            let deadline = ContinuousClock.now + .seconds(30)
            while try await world.waiting(.notice) > 0, ContinuousClock.now < deadline { await Task.yield() }
            #expect(try await world.waiting(.notice) == 0)
        }
    }
}
