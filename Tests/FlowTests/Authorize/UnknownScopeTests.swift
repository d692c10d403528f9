import JSON
import TestSupport
import Testing

@Suite("The authorization endpoint ignores scopes that it cannot give")
struct UnknownScopeTests {
    /// The scope that `client` is granted for a request with `changes`.
    private func granted(
        _ changes: KeyValuePairs<String, String>, to client: World.Actor, _ world: World
    ) async throws -> String? {
        let code = try await world.authorizationCode(changes, for: client)
        return try await world.redeemAuthorization(code, as: client).json["scope"]?.string
    }

    @Test(
        "The authorization endpoint ignores a word that is no scope, wherever in the scope it stands",
        arguments: Backend.available)
    func unknown(backend: Backend) async throws {
        try await World.with(backend) { world in
            for scope in ["profile nonsense", "nonsense profile", "profile Profile https://api.example/orders.read"] {
                let given = try await granted(["scope": scope], to: world.app, world)
                #expect(given == "profile", "\(scope)")
            }
        }
    }

    @Test(
        "A scope that one client defines is granted to it, and ignored in another client's request",
        arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            let shop = try await world.confidential(["scope": "profile orders"])
            let asked: KeyValuePairs = ["scope": "profile orders"]
            #expect(try await granted(asked, to: shop, world) == "profile orders")
            #expect(try await granted(asked, to: world.backend, world) == "profile")
        }
    }

    @Test(
        "The authorization endpoint ignores offline_access for a client that cannot have it",
        arguments: Backend.available)
    func offline(backend: Backend) async throws {
        try await World.with(backend) { world in
            let asked: KeyValuePairs = ["scope": "profile offline_access"]
            #expect(try await granted(asked, to: world.app, world) == "profile offline_access")
            // Not registered for the scope, and not for the grant.
            #expect(try await granted(asked, to: world.backend, world) == "profile")
            let grantless = try await world.confidential([
                "scope": "profile offline_access", "grant_types": ["authorization_code"],
            ])
            let code = try await world.authorizationCode(asked, for: grantless)
            let tokens = try await world.redeemAuthorization(code, as: grantless)
            #expect(tokens.json["scope"] == "profile" && tokens.json["refresh_token"] == nil)
        }
    }

    @Test("The consent page has no box for a scope that is ignored", arguments: Backend.available)
    func boxes(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register().actor
            var browser = Browser(world.server)
            let page = try await world.authorize(
                in: &browser,
                ["scope": "openid nonsense offline_access email", "access_type": "offline"], for: client)
            #expect(page.boxes == ["openid", "email"])
        }
    }

    @Test(
        "The authorization endpoint ignores a word that is no scope in a request object too",
        arguments: Backend.available)
    func object(backend: Backend) async throws {
        try await World.with(backend) { world in
            var signer = try await RequestSigner(world)
            let object = signer.object(["scope": "openid nonsense email"])
            let delivery = try await signer.party.authorize(["request": object])
            let tokens = try await signer.party.redeem(try delivery.require("code"))
            #expect(tokens.json["scope"] == "openid email")
        }
    }

    @Test(
        "A standard or admin scope that the client may not have is refused at the authorization endpoint",
        arguments: Backend.available)
    func foreign(backend: Backend) async throws {
        try await World.with(backend) { world in
            for scope in ["openid profile", "profile phone", "profile admin", "profile admin:merchant offline_access"] {
                let answer = try await world.server.get(world.authorizeAddress(["scope": scope], for: world.backend))
                #expect(answer.redirected("error") == "invalid_scope", "\(scope): \(answer)")
            }
        }
    }

    @Test(
        "An authorization request whose scopes are all ignored gets invalid_scope, not the default scope",
        arguments: Backend.available)
    func nothing(backend: Backend) async throws {
        try await World.with(backend) { world in
            for scope in ["nonsense", "offline_access", "nonsense offline_access"] {
                let answer = try await world.server.get(world.authorizeAddress(["scope": scope], for: world.backend))
                #expect(answer.redirected("error") == "invalid_scope", "\(scope): \(answer)")
                #expect(answer.redirected("error_description")?.contains("registered for") == true)
            }
        }
    }

    @Test(
        "The token endpoint refuses a word that is no scope, and offline_access that cannot be given",
        arguments: Backend.available)
    func tokenEndpoint(backend: Backend) async throws {
        try await World.with(backend) { world in
            for word in ["nonsense", "offline_access"] {
                let scope = "profile \(word)"
                #expect(try await world.signIn(scope: scope, with: world.backend).error == "invalid_scope")
                let code = try await world.authorizationCode(["scope": scope], for: world.backend)
                let tokens = try await world.redeemAuthorization(code, as: world.backend)
                let refreshed = try await world.refresh(
                    try tokens.require("refresh_token"), as: world.backend, scope: scope)
                #expect(refreshed.error == "invalid_scope")
            }
        }
    }
}
