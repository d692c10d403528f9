import JSON
import Storage
import TestSupport
import Testing

@Suite("A change of the client during a call of SPiD's API counts") struct ClientChangeTests {
    @Test(
        "A client that becomes third-party while an identity provider is asked attaches no account",
        arguments: Backend.available)
    func thirdParty(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("held", "1")
            let ada = try await story.world.signIn(with: story.phone)
            let jwt = story.sign(story.claims(.attach, "facebook", "held"))
            let answer = try await during(story) {
                try await story.attach(jwt, to: ada)
            } beside: {
                try await story.world.change("clients", story.phone.id, ["first_party": false])
            }
            #expect([401, 403, 503].contains(answer.status), "\(answer)")
            #expect(try await story.counts() == [1, 0])
        }
    }

    @Test(
        "A client whose secret ends while an identity provider is asked signs up no user",
        arguments: Backend.available)
    func endedSecret(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("held", "1")
            let jwt = story.sign(story.claims(.registration, "facebook", "held"))
            let answer = try await during(story) {
                try await story.world.server.post("/api/2/signup_jwt", ["jwt": jwt], basic: story.phone.basic)
            } beside: {
                try await endSecret(of: story.phone, story.world)
            }
            #expect([401, 403, 503].contains(answer.status), "\(answer)")
            #expect(try await story.counts() == [1, 0])
        }
    }

    @Test(
        "A client whose secret ends while a sign-up's password is hashed creates no user",
        arguments: Backend.available, [1, 2])
    func hashing(_ backend: Backend, write: Int) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            world.server.interruptions.interrupt(beforeWrite: write) { try await endSecret(of: loom, world) }
            let answer = try await world.server.post(
                "/api/2/signup", ["email": "grace@example.com", "password": "a quite unlikely loom"],
                basic: loom.basic)
            #expect(world.server.interruptions.wasInterrupted)
            #expect([401, 403, 503].contains(answer.status), "\(answer)")
            #expect(try await world.count("users") == 1)
        }
    }

    @Test(
        "A backend's sign-up for another client that just became third-party is refused and creates no user",
        arguments: Backend.available)
    func contextClient(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (loom, other) = (try await world.spidBackend(), try await world.spidBackend())
            let token = try await world.clientToken(loom)
            func signUp(_ name: String) async throws -> Answer {
                try await world.api(
                    "signup", token, ["email": "\(name)@example.com", "contextClientId": other.id])
            }
            let made = try await signUp("grace")
            #expect(made.status == 201, "\(made)")
            #expect(try await world.count("users") == 2)
            // As if by another node: this one still knows the old client for a second.
            let changed = try await world.server.database.write { db in
                try db.execute("UPDATE clients SET first_party = 0 WHERE id = \(other.id)")
            }
            #expect(changed == 1)
            #expect(try await world.api("users?contextClientId=\(other.id)", token).status == 200)
            let refused = try await signUp("bea")
            #expect([401, 403].contains(refused.status), "\(refused)")
            #expect(world.server.log.says("reason=client_changed"))
            #expect(try await world.count("users") == 2)
            #expect(try await world.count("connections WHERE client_id = '\(other.id)'") == 1)
            world.server.clock.advance(by: .seconds(1))
            #expect(try await signUp("bea").status == 401)
        }
    }

    /// The answer to `call`. `change` happens while the provider is asked.
    private func during(
        _ story: ProviderStory, _ call: @escaping @Sendable () async throws -> Answer,
        beside change: () async throws -> Void
    ) async throws -> Answer {
        story.provider.hold("held")
        async let answer = call()
        defer { story.provider.release() }
        let deadline = ContinuousClock.now + .seconds(30)
        while story.provider.questions.isEmpty, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(!story.provider.questions.isEmpty)
        try await change()
        story.provider.release()
        return try await answer
    }
}

/// Ends the only secret of `client`.
private func endSecret(of client: World.Actor, _ world: World) async throws {
    let path = "/admin/v1/clients/\(client.id)/secrets"
    let list = try await world.server.get(path, bearer: world.admin)
    let secret = try #require(list.json["items"]?.array?.first?["id"]?.string, "\(list)")
    let ended = try await world.server.send("DELETE", "\(path)/\(secret)", bearer: world.admin)
    #expect(ended.status == 204, "\(ended)")
}
