import Cryptography
import JOSE
import JSON
import Keys
import TestSupport
import Testing
import Values

@Suite("Signing keys that are withdrawn, or many")
struct WithdrawnKeyTests {
    @Test(
        "Within a minute of a signing key's withdrawal its tokens are refused and the next key signs",
        arguments: Backend.available)
    func withdrawn(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website(["id_token_signed_response_alg": "ES256"])
            var browser = Browser(world.server)
            func keyID(_ token: String) throws -> String {
                try #require(try TakenApart(token).header["kid"]?.string)
            }
            func published() async throws -> [String] {
                let keys = try await world.server.get("/oauth/jwks").json["keys"]?.array ?? []
                return keys.compactMap { $0["kid"]?.string }
            }
            let stolen = try await site.signIn(in: &browser).require("id_token")
            let id = try keyID(stolen)
            #expect(try await published().contains(id))
            let next = try #require(try await world.server.signingKeys.withdraw(id, at: world.server.clock.now))
            // A node remembers the key set for a minute.
            world.server.clock.advance(by: KeyRing.memory)
            #expect(try await !published().contains(id))
            let anew = try await site.signIn(in: &browser).require("id_token")
            #expect(try keyID(anew) == next.id)
            _ = try await world.verified(anew)
            await #expect(throws: JWTRejection.unknownKey) { try await world.verified(stolen) }
            // As a hint it proves nothing, so the user is asked.
            let page = try await browser.logOut(["id_token_hint": stolen])
            #expect(page.status == 200 && page.formAction == "/logout" && browser.session != nil)
            _ = try await browser.logOut(["id_token_hint": anew])
            #expect(browser.session == nil)
        }
    }

    @Test("A logout hint is verified however many signing keys there are", arguments: Backend.available)
    func many(backend: Backend) async throws {
        try await World.with(backend) { world in
            for _ in 0..<120 {
                world.server.clock.advance(by: .seconds(1))
                let now = world.server.clock.now
                #expect(try await world.server.signingKeys.make(.edDSA, signsFrom: now, at: now) != nil)
            }
            let site = try await world.website(["id_token_signed_response_alg": "EdDSA"])
            var browser = Browser(world.server)
            let hint = try await site.signIn(in: &browser).require("id_token")
            _ = try await browser.logOut(["id_token_hint": hint])
            #expect(browser.session == nil)
        }
    }
}
