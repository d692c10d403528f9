import JSON
import Synchronization
import TestSupport
import Testing

@Suite("Concurrent changes take turns, so that one sender's wait for each other")
struct ChangeTurnTests {
    @Test(
        "Many changes by one merchant administrator do not delay other merchants' and the platform's writes",
        arguments: Backend.available)
    func administrator(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (own, rivals) = (try await administrator(world), try await administrator(world, of: world.rival))
            let initial = try await world.initialToken()
            try await flood(world) {
                try await rename(world.app, by: own, in: world)
            } meanwhile: { _ async throws -> Void in
                #expect(try await rename(world.rivalBackend, by: rivals, in: world).status == 200)
                #expect(try await rename(world.backend, by: world.admin, in: world).status == 200)
                #expect(try await world.sendRegistration(with: initial).status == 201)
            }
        }
    }

    @Test(
        "Many changes by one self-registered client do not delay administrators' and other merchants' writes",
        arguments: Backend.available)
    func stranger(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world)
            let elsewhere = try await world.initialToken(of: world.rival)
            let made = try await world.register()
            try await flood(world) {
                try await made.send("PUT", made.update(["client_name": "Ravel"]))
            } meanwhile: { _ async throws -> Void in
                #expect(try await rename(world.app, by: own, in: world).status == 200)
                #expect(try await world.sendRegistration(with: elsewhere).status == 201)
            }
        }
    }

    @Test("Many removals of one user by one administrator do not delay other writes")
    func removals() async throws {
        try await World.with(.sqlite) { world in
            let own = try await administrator(world)
            _ = try await world.signIn()
            let answers = Mutex<[Int: Int]>([:])
            try await flood(world, accepting: [204, 404]) {
                let path = "/admin/v1/users/\(world.user)"
                let answer = try await world.server.send("DELETE", path, bearer: own)
                answers.withLock { $0[answer.status, default: 0] += 1 }
                return answer
            } meanwhile: { _ async throws -> Void in
                #expect(try await rename(world.rivalBackend, by: world.admin, in: world).status == 200)
            }
            #expect(answers.withLock { $0[204] } == 1, "one finds the user, the others none")
        }
    }

    @Test(
        "A merchant administrator's change waits for one of another administrator's many changes, not for all",
        arguments: Backend.available)
    func sameMerchant(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (own, other) = (try await administrator(world), try await administrator(world))
            try await flood(world) {
                try await rename(world.app, by: own, in: world)
            } meanwhile: { endOne async throws -> Void in
                async let renamed = rename(world.backend, by: other, in: world)
                try await Task.sleep(for: .milliseconds(100))
                endOne()
                #expect(try await renamed.status == 200)
            }
        }
    }

    @Test(
        "A self-registered client's change waits for one of another client's many changes, not for all",
        arguments: Backend.available)
    func otherDeveloper(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (made, other) = (try await world.register(), try await world.register())
            try await flood(world) {
                try await made.send("PUT", made.update(["client_name": "Ravel"]))
            } meanwhile: { endOne async throws -> Void in
                async let changed = other.send("PUT", other.update(["client_name": "Warp"]))
                try await Task.sleep(for: .milliseconds(100))
                endOne()
                #expect(try await changed.status == 200)
            }
        }
    }

    @Test(
        "At most four of a merchant administrator's changes of users run at once; the others wait",
        arguments: Backend.available)
    func users(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world)
            _ = try await world.signIn()
            try await expectTurns(world) {
                try await world.server.send(
                    "PATCH", "/admin/v1/users/\(world.user)", json: ["nickname": "Countess"], bearer: own)
            }
        }
    }

    @Test("At most four of a backend's changes of profiles run at once; the others wait", arguments: Backend.available)
    func profiles(backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            try await expectTurns(world) {
                try await world.api("user/\(world.user)", token, ["displayName": "Countess"])
            }
        }
    }

    @Test(
        "Of many logouts with one token that reach backends, at most four run at once; the others wait",
        arguments: Backend.available)
    func logouts(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("merchants", world.merchant, ["logout_reaches_backends": true])
            let token = try await world.signIn().require("access_token")
            // The first one ends the token.
            try await expectTurns(world, accepting: [200, 401]) {
                try await world.server.get("/logout", bearer: token)
            }
        }
    }

    /// Expects that no change ends while the four that run at once are held up.
    private func expectTurns(
        _ world: World, accepting statuses: Set<Int> = [200], _ change: @escaping @Sendable () async throws -> Answer
    ) async throws {
        let ended = Mutex(0)
        try await flood(world, accepting: statuses) {
            let answer = try await change()
            ended.withLock { $0 += 1 }
            return answer
        } meanwhile: { _ async throws -> Void in
            #expect(ended.withLock { $0 } == 0)
            #expect(try await rename(world.rivalBackend, by: world.admin, in: world).status == 200)
        }
    }

    /// Sends a change 54 times, holds up the four that run at once, and calls `meanwhile`, which may release one.
    private func flood(
        _ world: World, accepting statuses: Set<Int> = [200], _ change: @escaping @Sendable () async throws -> Answer,
        meanwhile: (_ endOne: () -> Void) async throws -> Void
    ) async throws {
        let holds = (1...4).map { _ in AsyncStream<Void>.makeStream() }
        let interruptions = world.server.interruptions
        try await withThrowingTaskGroup(of: Answer.self) { group in
            defer { for hold in holds { hold.continuation.finish() } }
            for hold in holds {
                let held = hold.stream
                interruptions.interrupt { for await _ in held {} }
                group.addTask { try await change() }
                let end = ContinuousClock.now + .seconds(60)
                while !interruptions.wasInterrupted, ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            // These wait. The test's HTTP client has 64 connections.
            for _ in 1...50 { group.addTask { try await change() } }
            try await Task.sleep(for: .milliseconds(200))
            try await meanwhile { holds[0].continuation.finish() }
            #expect(try await world.token(["grant_type": "client_credentials"], as: world.backend).status == 200)
            for hold in holds { hold.continuation.finish() }
            for try await answer in group { #expect(statuses.contains(answer.status), "\(answer)") }
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
