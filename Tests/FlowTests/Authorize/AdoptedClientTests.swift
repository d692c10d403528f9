import JSON
import TestSupport
import Testing

@Suite("A client that becomes its merchant's own while a page of it is open")
struct AdoptedClientTests {
    private static let email = "grace@example.com"
    private static let credentials = ["email": email, "password": World.password]

    @Test(
        "a page that was opened while the client was a stranger introduces the merchant that it did not name",
        arguments: Backend.available)
    func before(backend: Backend) async throws {
        try await World.with(backend) { world in
            let person = try await world.newcomer(Self.email)
            let client = try await world.register(["client_name": "Ravel"]).actor
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress(["scope": "openid"], for: client))
            #expect(page.formAction == "/login" && page.body.contains("Ravel") && !page.body.contains("Loom"))
            #expect(try await world.change("clients", client.id, ["first_party": true]).status == 200)
            let answer = try await browser.submit(page, Self.credentials)
            #expect(answer.status == 410 && answer.isPage, "\(answer)")
            #expect(answer.body.contains("Go back to the app and start again."))
            #expect(answer.header("location") == nil && browser.session == nil)
            #expect(try await world.introductions(of: person) == [])
        }
    }

    @Test("a request that is begun after its client became the merchant's own is gone", arguments: Backend.available)
    func after(backend: Backend) async throws {
        try await World.with(backend) { world in
            let person = try await world.newcomer(Self.email)
            let client = try await world.register(["client_name": "Ravel"]).actor
            #expect(try await world.change("clients", client.id, ["first_party": true]).status == 200)
            world.server.clock.advance(by: .seconds(2))
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress(["scope": "openid"], for: client))
            #expect(page.body.contains("<bdi>Loom</bdi>"))
            let signedIn = try await browser.submit(page, Self.credentials)
            let back = try await browser.open(try #require(signedIn.header("location"), "\(signedIn)"))
            #expect(back.redirected("code") != nil, "\(back)")
            #expect(try await world.introductions(of: person) == [world.merchant])
        }
    }
}
