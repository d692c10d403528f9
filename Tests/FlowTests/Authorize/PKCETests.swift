import JSON
import TestSupport
import Testing

@Suite("PKCE binds a code to its requester (RFC 7636, RFC 9700)")
struct PKCETests {
    @Test(
        "A public client's authorization request must have a PKCE challenge with method S256",
        arguments: Backend.available)
    func required(backend: Backend) async throws {
        try await World.with(backend) { world in
            let refused: [KeyValuePairs<String, String>] = [
                ["code_challenge": "", "code_challenge_method": ""],
                ["code_challenge": verifier, "code_challenge_method": "plain"],
                ["code_challenge_method": ""],
                ["code_challenge": ""],
                ["code_challenge": "short"],
                ["code_challenge_method": "S512"],
            ]
            for changes in refused {
                let answer = try await world.server.get(world.authorizeAddress(changes))
                #expect(answer.status == 302, "\(changes)")
                #expect(answer.redirected("error") == "invalid_request")
                #expect(answer.redirected("state") == "xyz")
                #expect(answer.redirected("code") == nil)
            }
        }
    }

    @Test("The right PKCE verifier redeems the code", arguments: Backend.available)
    func right(backend: Backend) async throws {
        try await World.with(backend) { world in
            let tokens = try await world.redeemAuthorization(try await world.authorizationCode())
            #expect(tokens.status == 200)
            #expect(tokens.json["user_id"]?.string == world.user)
            #expect(tokens.json["refresh_token"]?.string != nil)
        }
    }

    @Test("A wrong or missing PKCE verifier redeems nothing and does not spend the code", arguments: Backend.available)
    func wrongVerifier(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            let wrong = String(verifier.reversed())
            #expect(try await world.redeemAuthorization(code, ["code_verifier": wrong]).error == "invalid_grant")
            #expect(try await world.redeemAuthorization(code, ["code_verifier": ""]).error == "invalid_request")
            #expect(try await world.redeemAuthorization(code, ["code_verifier": "short"]).error == "invalid_request")
            #expect(try await world.redeemAuthorization(code, ["code_verifier": challenge]).error == "invalid_grant")
            let tokens = try await world.redeemAuthorization(code)
            #expect(tokens.status == 200)
            // A replay without the verifier revokes nothing.
            #expect(try await world.redeemAuthorization(code, ["code_verifier": wrong]).error == "invalid_grant")
            #expect(try await world.isLive(try tokens.require("access_token")))
        }
    }

    @Test(
        "A confidential client may omit PKCE, and then a verifier at redemption is refused",
        arguments: Backend.available)
    func confidential(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode(
                ["code_challenge": "", "code_challenge_method": ""], for: world.backend)
            #expect(try await world.redeemAuthorization(code, as: world.backend).error == "invalid_grant")
            #expect(
                try await world.redeemAuthorization(code, as: world.backend, ["code_verifier": ""]).status == 200)
        }
    }

    @Test(
        "A confidential client that sent a PKCE challenge must send its verifier at redemption",
        arguments: Backend.available)
    func confidentialWithChallenge(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode(for: world.backend)
            let without = try await world.redeemAuthorization(code, as: world.backend, ["code_verifier": ""])
            #expect(without.error == "invalid_request")
            #expect(try await world.redeemAuthorization(code, as: world.backend).status == 200)
        }
    }
}
