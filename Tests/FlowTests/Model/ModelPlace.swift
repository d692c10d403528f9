import JSON
import TestSupport
import Testing

/// A browser with a session, and what three kinds of clients got there.
struct ModelPlace: Sendable {
    let browser: Browser
    /// `sid`, as clients know the session.
    let session: String
    let passing: Held
    let lastingOfApp: Held
    let lastingOfBackend: Held
    let model: ModelWorld

    /// Has the three clients get tokens in `browser`, where a user is signed in.
    init(in browser: Browser, _ model: ModelWorld) async throws {
        var browser = browser
        passing = try await model.got(by: model.site, "openid", in: &browser)
        lastingOfApp = try await model.got(by: model.otherApp, "openid offline_access", in: &browser)
        lastingOfBackend = try await model.got(by: model.site, "openid offline_access", in: &browser)
        let idToken = try #require(passing.idToken)
        session = try #require(try TakenApart(idToken).claims["sid"]?.string)
        self.browser = browser
        self.model = model
    }

    var got: [Held] { [passing, lastingOfApp, lastingOfBackend] }
    static let kinds = ["passing tokens", "an app's lasting tokens", "a backend's lasting tokens"]

    /// The notice that the site gets when the session ends.
    var notice: ModelWorld.Message {
        ModelWorld.Message(kind: "notice", client: model.site.id, session: session)
    }

    func isLive() async throws -> Bool {
        var browser = browser
        return try await browser.isSignedIn()
    }
}

extension ModelWorld {
    /// Whether the session of `browser` signs its user in at `client`.
    func isSignedIn(_ browser: Browser, at client: World.Actor) async throws -> Bool {
        var browser = browser
        let address = world.authorizeAddress(["prompt": "none"], for: client)
        return try await browser.open(address).redirected("code") != nil
    }
}
