import JSON
import TestSupport
import Testing
import Values

/// Tokens of one family that a client holds.
struct Held: Sendable {
    let client: World.Actor
    let world: World
    let accessToken: String
    let refreshToken: String
    let idToken: String?
    /// When the access token expires.
    private let expiry: Timestamp

    init(client: World.Actor, _ world: World, _ answer: Answer) throws {
        self.client = client
        self.world = world
        accessToken = try answer.require("access_token")
        refreshToken = try answer.require("refresh_token")
        idToken = answer.json["id_token"]?.string
        expiry = world.server.clock.now + .seconds(try #require(answer.json["expires_in"]?.integer))
    }

    /// Whether they are live: all of them, or none.
    func isLive() async throws -> Bool {
        let isPresented = try await world.isLive(accessToken)
        let isRefreshed = try await canRefresh()
        if world.server.clock.now < expiry {
            #expect(isPresented == isRefreshed, "an access token and its refresh token differ")
        }
        return isRefreshed
    }

    func canRefresh() async throws -> Bool {
        try await world.refresh(refreshToken, as: client).status == 200
    }
}

/// Tokens with a web view that they bought, and what was got there.
struct Branch: Sendable {
    let held: Held
    let webView: ModelPlace

    init(of held: Held, _ model: ModelWorld) async throws {
        self.held = held
        webView = try await model.webView(boughtBy: held)
    }
}

extension ModelWorld {
    /// A code that `client` gets in `browser`, where a user is signed in.
    func authorizationCode(
        for client: World.Actor, _ scope: String, in browser: inout Browser
    ) async throws -> String {
        tick()
        var page = try await browser.open(world.authorizeAddress(["scope": scope, "nonce": "n-1"], for: client))
        // "Continue?": any app on the device could have the address.
        if page.status == 200 { page = try await browser.submit(page, ["decision": "continue"]) }
        if let onward = page.header("location"), onward.hasPrefix("/") { page = try await browser.open(onward) }
        return try page.requireRedirected("code")
    }

    /// What `client` gets in `browser`, where a user is signed in.
    func got(by client: World.Actor, _ scope: String, in browser: inout Browser) async throws -> Held {
        let code = try await authorizationCode(for: client, scope, in: &browser)
        return try Held(client: client, world, try await world.redeemAuthorization(code, as: client))
    }

    /// The web view of `receiver`, by default the phone's, that a token bought.
    func webView(boughtBy held: Held, for receiver: World.Actor? = nil) async throws -> ModelPlace {
        tick()
        let receiver = receiver ?? world.app
        let code = try await world.exchange(
            held.accessToken, for: receiver, type: "session",
            redirectURI: receiver.id == world.app.id ? World.webview : receiver.redirectURI
        ).require("code")
        var browser = Browser(world.server)
        _ = try await browser.open("/auth/session/\(code)")
        return try await ModelPlace(in: browser, self)
    }

    /// What the backend got for a code that a token bought.
    func backend(byCodeOf held: Held) async throws -> Held {
        tick()
        let code = try await world.exchange(held.accessToken, for: world.backend).require("code")
        return try Held(client: world.backend, world, try await world.redeem(code, as: world.backend))
    }
}
