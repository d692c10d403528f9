import TestSupport
import Testing

/// The user whom a cause is about.
struct ModelUser: Sendable {
    let model: ModelWorld
    let id: String
    let email: String
    var world: World { model.world }

    /// Signs in to the phone.
    func signInOnPhone() async throws -> Held { try await signIn(with: world.app) }

    /// Signs in to a client by password.
    func signIn(with client: World.Actor) async throws -> Held {
        try Held(client: client, world, try await world.signIn(with: client, as: email))
    }

    func signIn(at receiver: ModelWorld.Receiver) async throws -> Held {
        try await signIn(with: try #require(model.receivers[receiver]))
    }

    /// Signs in to a browser by password.
    func browser() async throws -> Browser {
        var browser = Browser(world.server)
        try await browser.signIn(as: email)
        return browser
    }
}
