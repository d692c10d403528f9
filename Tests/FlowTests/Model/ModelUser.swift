import TestSupport
import Testing

/// Somebody whose sign-ins a cause is about.
struct ModelUser: Sendable {
    let model: ModelWorld
    let id: String
    let email: String
    var world: World { model.world }

    /// Signs in to the phone.
    func signInOnPhone() async throws -> Held {
        try Held(client: world.app, world, try await world.signIn(as: email))
    }

    /// Signs in to a browser by password.
    func browser() async throws -> Browser {
        var browser = Browser(world.server)
        try await browser.signIn(as: email)
        return browser
    }
}
