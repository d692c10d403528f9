import Storage
import TestSupport
import Testing
import Values

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

    /// A session that expired, and was forgotten, after clients got tokens in it.
    func expiredSession() async throws -> ModelPlace {
        let session = try await ModelPlace(in: try await browser(), model)
        world.server.clock.advance(by: .hours(3))
        let retention = Retention(database: world.server.database)
        while await retention.sweep(at: world.server.clock.now).gone > 0 {}
        return session
    }
}
