import JSON
import TestSupport
import Testing

@Suite("Whoever makes many changes at once waits for themselves")
struct ChangeTurnTests {
    @Test(
        "one merchant's administrator has any number of changes under way, which others' writes wait for",
        arguments: Backend.available)
    func administrator(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (own, rivals) = (try await administrator(world), try await administrator(world, of: world.rival))
            let initial = try await world.initialToken()
            try await flood(world) {
                try await rename(world.app, by: own, in: world)
            } meanwhile: { () async throws -> Void in
                #expect(try await rename(world.rivalBackend, by: rivals, in: world).status == 200)
                #expect(try await rename(world.backend, by: world.admin, in: world).status == 200)
                #expect(try await world.sendRegistration(with: initial).status == 201)
            }
        }
    }

    @Test(
        "one client that registered itself has any number of changes under way, which others' writes wait for",
        arguments: Backend.available)
    func stranger(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world)
            let elsewhere = try await world.initialToken(of: world.rival)
            let made = try await world.register()
            try await flood(world) {
                try await made.send("PUT", made.update(["client_name": "Ravel"]))
            } meanwhile: { () async throws -> Void in
                #expect(try await rename(world.app, by: own, in: world).status == 200)
                #expect(try await world.sendRegistration(with: elsewhere).status == 201)
            }
        }
    }

    /// Makes a change 41 times, of which the first one is held up, and does something else `meanwhile`.
    private func flood(
        _ world: World, _ change: @escaping @Sendable () async throws -> Answer,
        meanwhile: () async throws -> Void
    ) async throws {
        let (held, release) = AsyncStream<Void>.makeStream()
        let interruptions = world.server.interruptions
        interruptions.interrupt { for await _ in held {} }
        try await withThrowingTaskGroup(of: Answer.self) { group in
            defer { release.finish() }
            group.addTask { try await change() }
            let end = ContinuousClock.now + .seconds(60)
            while !interruptions.wasInterrupted, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(1))
            }
            for _ in 1...40 { group.addTask { try await change() } }
            // One runs, and 32 wait.
            for _ in 1...8 {
                guard let refused = try await group.next() else { break }
                #expect(refused.status == 503 && refused.header("retry-after") == "1", "\(refused)")
            }
            try await meanwhile()
            #expect(try await world.token(["grant_type": "client_credentials"], as: world.backend).status == 200)
            release.finish()
            for try await answer in group { #expect(answer.status == 200, "\(answer)") }
        }
    }

    private func rename(_ client: World.Actor, by token: String, in world: World) async throws -> Answer {
        try await world.server.send(
            "PATCH", "/admin/v1/clients/\(client.id)", json: ["client_name": "Weaver"], bearer: token)
    }

    private func administrator(_ world: World, of merchant: String? = nil) async throws -> String {
        let client = try await world.confidential(
            ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant)
        return try await world.clientToken(client, scope: "admin:merchant")
    }
}
