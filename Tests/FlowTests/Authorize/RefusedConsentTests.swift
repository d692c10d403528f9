import JSON
import Storage
import TestSupport
import Testing

@Suite("A consent that allows less than is asked, and the limit of taking access away")
struct RefusedConsentTests {
    @Test("a consent that is refused accepts the app's terms", arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "profile email"], for: client)
            let first = try await browser.open(address)
            #expect(try await world.allow(first, in: &browser, ticking: first.boxes).redirected("code") != nil)
            try await world.change("clients", client.id, ["tos_uri": "https://stranger.example/terms"])
            world.server.clock.advance(by: .seconds(1))
            let page = try await browser.open(address + "&prompt=consent")
            #expect(page.fields["terms"] == "https://stranger.example/terms")
            try await world.useUpRevocations()
            let refused = try await world.answer(page, in: browser, "allow", ticking: ["email"])
            #expect(refused.status == 429 && refused.isPage, "\(refused)")
            #expect(try await agreements(world) == 0)
            world.server.clock.advance(by: .seconds(10))
            #expect(try await world.allow(page, in: &browser, ticking: ["email"]).redirected("code") != nil)
            #expect(try await agreements(world) == 1)
        }
    }

    @Test("whoever never allowed a box takes access away by leaving it out", arguments: Backend.available)
    func nothingHeld(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            try await world.useUpRevocations()
            let address = world.authorizeAddress(["scope": "profile email", "prompt": "consent"], for: client)
            for _ in 1...2 {
                let page = try await browser.open(address)
                let answer = try await world.allow(page, in: &browser, ticking: ["email"])
                #expect(answer.redirected("code") != nil, "\(answer)")
            }
            let page = try await browser.open(address)
            let taken = try await world.answer(page, in: browser, "allow", ticking: ["profile"])
            #expect(taken.status == 429, "\(taken)")
        }
    }

    @Test(
        "a box that the app never had ends codes each time it is left out, or is taken back without end",
        arguments: Backend.available)
    func overAndOver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(
                world.authorizeAddress(["scope": "profile email", "prompt": "consent"], for: client))
            func ticking(_ box: String) async throws -> Int {
                try await world.answer(page, in: browser, "allow", ticking: [box]).status
            }
            for _ in 1...60 { #expect(try await ticking("email") == 303) }
            #expect(try await world.count("exchange_code_ends") == 0)
            for number in 1...50 { #expect(try await ticking(number % 2 == 1 ? "profile" : "email") == 303) }
            #expect(try await ticking("profile") == 429)
            #expect(try await world.count("exchange_code_ends") == 1)
        }
    }

    @Test(
        "the user of a merchant's own app ends its codes without end by leaving out a box",
        arguments: Backend.available)
    func ownApp(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(
                world.authorizeAddress(["scope": "profile email", "prompt": "consent"]))
            #expect(page.boxes == ["profile", "email"])
            func leaveOut() async throws -> Answer {
                try await world.answer(page, in: browser, "allow", ticking: ["email"])
            }
            for _ in 1...50 { #expect(try await leaveOut().status == 303) }
            let plain = try await browser.open(world.authorizeAddress(["scope": "profile email"]))
            let code = try plain.requireRedirected("code")
            world.server.clock.advance(by: .seconds(1))
            let refused = try await leaveOut()
            #expect(refused.status == 429 && refused.isPage, "\(refused)")
            #expect(try await world.redeemAuthorization(code).status == 200)
        }
    }

    private func agreements(_ world: World) async throws -> Int {
        try await world.server.database.read { db in try db.rows("SELECT terms_uri FROM agreements").count }
    }
}
