import JOSE
import JSON
import Logging
import OAuth
import Outbound
import Synchronization
import TestSupport
import Testing
import Values

@testable import Federation

@Suite("Published keys of issuers") struct IssuerKeysTests {
    private let server: LoopbackServer
    private let clock = ManualClock()
    private let keys: IssuerKeys
    private let old = Signer()

    init() throws {
        server = try LoopbackServer()
        let policy = OutboundPolicy(allowedPrivateRanges: ["127.0.0.1"].compactMap { CIDR($0) })
        keys = IssuerKeys(outbound: Outbound(policy: policy, logger: Logger.silent), clock: clock)
        publish(old)
    }

    private func publish(_ signer: Signer, life: String? = nil) {
        server.answer(signer.keySet.text, headers: life.map { ["Cache-Control: max-age=\($0)"] } ?? [])
    }

    /// Whether the cached keys verify a token of `signer`.
    private func takes(_ signer: Signer) async -> Bool {
        guard let keys = try? await keys.keys(at: server.address, for: "loom") else { return false }
        return (try? await keys.verify(signer.sign(.members(["iss": "i"])), allowed: [.es256])) != nil
    }

    @Test(
        "A key set is cached for its max-age, at least a minute and at most an hour, by default five minutes",
        arguments: [(nil, 300), ("120", 120), ("1", 60), ("99999999999999999999", 3600)] as [(String?, Int64)])
    func life(said: String?, seconds: Int64) async throws {
        publish(old, life: said)
        #expect(await takes(old))
        clock.advance(by: .milliseconds(seconds * 1000 - 1))
        #expect(await takes(old))
        #expect(server.requests.count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await takes(old))
        #expect(server.requests.count == 2)
    }

    @Test("Concurrent lookups of an issuer's key set cause one fetch together")
    func singleFlight() async throws {
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...16 { group.addTask { #expect(await takes(old)) } }
        }
        #expect(server.requests.count == 1)
    }

    @Test("Assertions with an unknown key id cause at most one fetch of the key set in ten seconds")
    func unknownKey() async throws {
        let fixture = try await JWTBearerFixture(.sqlite)
        _ = try await fixture.issuers.register(
            .members(["issuer": .string(old.name), "jwks_uri": .string(server.address), "create_users": true]),
            merchant: fixture.merchant, by: commandLine)
        try await fixture.present(old.sign(fixture.claims()))
        #expect(server.requests.count == 1)

        let new = Signer()
        publish(new)
        // The regular lookup a moment ago does not block this one.
        try await fixture.present(new.sign(fixture.claims()))
        #expect(server.requests.count == 2)
        let newer = Signer()
        publish(newer)
        for _ in 1...5 {
            #expect(try await fixture.refusal(of: newer.sign(fixture.claims())) == "assertion_key_unknown")
        }
        #expect(server.requests.count == 2)
        fixture.clock.advance(by: .seconds(10))
        try await fixture.present(newer.sign(fixture.claims()))
        #expect(server.requests.count == 3)
        for _ in 1...5 {
            #expect(try await fixture.refusal(of: Signer().sign(fixture.claims())) == "assertion_key_unknown")
        }
        #expect(server.requests.count == 3)
    }

    @Test(
        "After a bad answer from its server, an issuer's earlier key set is used for a day",
        arguments: [("500 Internal Server Error", "{}"), ("200 OK", "<html>")])
    func outage(status: String, body: String) async throws {
        #expect(await takes(old))
        server.answer(body, status: status)
        clock.advance(by: .minutes(6))
        #expect(await takes(old))
        #expect(await takes(old))
        #expect(server.requests.count == 2)
        clock.advance(by: .hours(23))
        #expect(await takes(old))
        clock.advance(by: .hours(1))
        #expect(await takes(old) == false)
        // The server is back.
        let new = Signer()
        publish(new)
        clock.advance(by: .seconds(10))
        #expect(await takes(new))
    }

    @Test("Cached keys are used while their server is away; without any, the answer is temporarily_unavailable")
    func gone() async throws {
        #expect(await takes(old))
        server.stop()
        clock.advance(by: .hours(1))
        #expect(await takes(old))

        let fixture = try await JWTBearerFixture(.sqlite)
        _ = try await fixture.issuers.register(
            .members(["issuer": .string(old.name), "jwks_uri": .string(server.address)]), merchant: fixture.merchant,
            by: commandLine)
        let error = await #expect(throws: OAuthError.self) { try await fixture.present(old.sign(fixture.claims())) }
        #expect(error?.reason == "issuer_keys_unavailable")
        #expect(error?.code == .temporarilyUnavailable)
        #expect(error?.retryAfter == .seconds(10))
    }

    @Test("After a key set fetch has failed, the next lookup gives the same reason without another fetch")
    func cause() async throws {
        server.answer("", status: "404 Not Found")
        await #expect(throws: DocumentUnavailable(reason: "answered with status 404")) {
            try await keys.keys(at: server.address, for: "loom")
        }
        // The reason is repeated without another request.
        await #expect(throws: DocumentUnavailable(reason: "answered with status 404")) {
            try await keys.keysAnew(at: server.address, for: "loom")
        }
        #expect(server.requests.count == 1)
    }

    @Test("Thousands of key set lookups for one merchant remove no cached key set of another")
    func shares() async throws {
        #expect(await takes(old))
        let asked = server.requests.count
        server.answer("", status: "500 Internal Server Error")
        for number in 1...3000 {
            await #expect(throws: DocumentUnavailable.self) {
                try await keys.keys(at: "\(server.address)/\(number)", for: "mill")
            }
        }
        let others = server.requests.count
        #expect(others > asked)
        // While the server is down, the cached one is used.
        clock.advance(by: .minutes(6))
        #expect(await takes(old))
        #expect(server.requests.count == others + 1)
    }

    @Test("Concurrent lookups of a key set all fail together if the answer to their one fetch does not end")
    func slow() async throws {
        let policy = OutboundPolicy(
            allowedPrivateRanges: ["127.0.0.1"].compactMap { CIDR($0) }, longestWait: .milliseconds(200))
        let keys = IssuerKeys(outbound: Outbound(policy: policy, logger: Logger.silent), clock: clock)
        server.answer(#"{"keys":["#, headers: ["Content-Length: 60000"], hangsUp: false)
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...8 {
                group.addTask {
                    await #expect(throws: DocumentUnavailable(reason: "no whole answer in time")) {
                        try await keys.keys(at: server.address, for: "loom")
                    }
                }
            }
        }
        #expect(server.requests.count == 1)
    }

    @Test("A key set is not fetched through a redirect")
    func redirect() async throws {
        let other = try LoopbackServer()
        other.answer(old.keySet.text)
        server.answer("", status: "307 Temporary Redirect", headers: ["Location: \(other.address)"])
        #expect(await takes(old) == false)
        #expect(other.requests.isEmpty)
    }

    private struct Place: PublishedSource {
        let share: String
    }

    @Test("After the clock was set back, published documents (key sets and others) are fetched again at once")
    func clockSetBack() async throws {
        let clock = ManualClock()
        let answers = Mutex<[Int]>([])
        let documents = PublishedDocuments<Place, Int>(clock: clock) { _ in
            answers.withLock { $0.isEmpty ? .unusable("away") : .document($0.removeFirst(), maxAge: .hours(1)) }
        }
        let place = Place(share: "one")
        clock.advance(by: .hours(2))
        await #expect(throws: DocumentUnavailable.self) { try await documents.document(at: place) }
        clock.advance(by: .hours(-2))
        answers.withLock { $0 = [1, 2, 3] }
        #expect(try await documents.document(at: place) == 1)
        clock.advance(by: .days(-1))
        #expect(try await documents.documentAnew(at: place) == 2)
        clock.advance(by: .hours(1))
        #expect(try await documents.document(at: place) == 3)
    }

    @Test(
        "At most 64 lookups of one merchant's key sets wait for a silent server; a further one fails at once",
        .timeLimit(.minutes(1)))
    func crowd() async {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let documents = PublishedDocuments<Place, Int>(clock: ManualClock()) { place in
            if place.share == "slow" { for await _ in gate {} }
            return .document(1, maxAge: nil)
        }
        let answers = await withTaskGroup(of: Int?.self) { group in
            for _ in 0...PublishedDocument.mostWaiting {
                group.addTask { try? await documents.document(at: Place(share: "slow")) }
            }
            let first = await group.next()
            #expect(first == .some(nil), "it is refused, and does not wait")
            #expect((try? await documents.document(at: Place(share: "quick"))) == 1)
            open.finish()
            return await group.reduce(into: 0) { count, answer in count += answer ?? 0 }
        }
        #expect(answers == PublishedDocument.mostWaiting)
        #expect((try? await documents.document(at: Place(share: "slow"))) == 1)
    }
}
