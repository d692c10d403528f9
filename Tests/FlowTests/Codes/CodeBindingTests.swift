import JSON
import TestSupport
import Testing

@Suite("A code is redeemed only by its client, with its redirect URI, at its endpoint")
struct CodeBindingTests {
    @Test("Another merchant's client neither redeems nor spends an exchange code", arguments: Backend.available)
    func foreignClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            #expect(try await world.redeem(code, as: world.rivalBackend).error == "invalid_grant")
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test(
        "Another client of the same merchant neither redeems nor spends an exchange code",
        arguments: Backend.available)
    func sibling(backend: Backend) async throws {
        try await World.with(backend) { world in
            let sibling = try await world.confidential([:])
            let code = try await world.code(of: try await world.signIn())
            #expect(try await world.redeem(code, as: sibling).error == "invalid_grant")
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test(
        "A redemption with a wrong client secret neither redeems nor spends an exchange code",
        arguments: Backend.available)
    func wrongSecret(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let guesser = world.backend.with(secret: "guess")
            let guessed = try await world.redeem(code, as: guesser)
            #expect(guessed.status == 401)
            #expect(guessed.error == "invalid_client")
            let silent = world.backend.with(secret: "")
            #expect(try await world.redeem(code, as: silent).error == "invalid_client")
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test("A wrong or missing redirect_uri neither redeems nor spends an exchange code", arguments: Backend.available)
    func wrongRedirectURI(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let wrong = try await world.redeem(code, as: world.backend, redirectURI: "https://evil.example/")
            #expect(wrong.error == "invalid_grant")
            let missing = try await world.redeem(code, as: world.backend, redirectURI: "")
            #expect(missing.error == "invalid_request")
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test(
        "An exchange code needs no PKCE, and a PKCE verifier at its redemption is refused",
        arguments: Backend.available)
    func straySecretVerifier(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            #expect(try await world.redeemAuthorization(code, as: world.backend).error == "invalid_grant")
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test(
        "A redirectUri named at the exchange must be the redirect_uri of the code's redemption",
        arguments: Backend.available)
    func boundRedirectURI(backend: Backend) async throws {
        try await World.with(backend) { world in
            let uris = ["https://two.example/a", "https://two.example/b"]
            let receiver = try await world.confidential(["redirect_uris": .array(uris.map { .string($0) })])
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(token, for: receiver, redirectURI: uris[0]).require("code")
            #expect(try await world.redeem(code, as: receiver, redirectURI: uris[1]).error == "invalid_grant")
            #expect(try await world.redeem(code, as: receiver, redirectURI: uris[0]).status == 200)
        }
    }

    @Test("The token endpoint refuses a session code without spending it", arguments: Backend.available)
    func sessionCodeAtTokenEndpoint(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(
                token, for: world.backend, type: "session", redirectURI: world.backend.redirectURI
            ).require("code")
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test(
        "The endpoint /auth/session refuses a backend's exchange code without spending it",
        arguments: Backend.available)
    func codeAsSession(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let opened = try await world.server.get("/auth/session/\(code)")
            #expect(opened.status == 404)
            #expect(opened.header("set-cookie") == nil)
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test(
        "An unknown exchange code gets the same answer as another client's exchange code",
        arguments: Backend.available)
    func unknownCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let foreign = try await world.redeem(code, as: world.rivalBackend)
            let unknown = try await world.redeem("no-such-code", as: world.rivalBackend)
            #expect(unknown.status == 400)
            #expect(unknown.body == foreign.body)
        }
    }
}
