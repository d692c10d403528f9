import Cryptography
import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values
@testable import Directory
@testable import Federation
@testable import OAuth

@Suite("The jwt-bearer grant") struct JWTBearerTests {
    private let signer = Signer()

    // MARK: Users

    @Test("An issuer's subject is the same user from its first assertion on", arguments: Backend.available)
    func newcomer(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        try await fixture.trust(signer)
        let first = try await fixture.present(signer.sign(fixture.claims(["auth_time": 1_700_000_000])))
        let second = try await fixture.present(signer.sign(fixture.claims()))
        let other = try await fixture.present(signer.sign(fixture.claims(["sub": "ola"])))
        #expect(first.user != nil)
        #expect(first.user == second.user)
        #expect(other.user != first.user)
        #expect(first.refreshToken != nil)
        #expect(first.scope.description == "profile email")
        #expect(try await fixture.count("SELECT id FROM users") == 2)
        #expect(
            try await fixture.count("SELECT id FROM token_families WHERE signed_in_at = \(Int64(1_700_000_000_000))")
                == 1)
    }

    @Test("An assertion's auth_time may have a fraction, and one in the future counts as now")
    func signInTimes() async throws {
        let fixture = try await JWTBearerFixture(.sqlite)
        try await fixture.trust(signer)
        let now = fixture.clock.now.seconds
        let then = now - 3 * 86_400
        let cases: [(JSON, Int64)] = [
            (.number(Double(then) + 0.5), then * 1000 + 500), (.integer(then), then * 1000),
            (.integer(now + 60), now * 1000),
        ]
        for (time, expected) in cases {
            try await fixture.present(signer.sign(fixture.claims(["auth_time": time])))
            let stored: SQL = "SELECT id FROM token_families WHERE signed_in_at = \(expected)"
            #expect(try await fixture.count(stored) == 1, "\(time)")
        }
        try await fixture.present(signer.sign(fixture.claims(["auth_time": .null])))
        #expect(
            try await fixture.count("SELECT id FROM token_families WHERE signed_in_at = \(now * 1000)") == 2,
            "without a time")
        let text = fixture.claims(["auth_time": .string("\(then)")])
        #expect(try await fixture.refusal(of: signer.sign(text)) == "assertion_claim")
    }

    @Test("Eight concurrent assertions of one new subject create one user", arguments: Backend.available)
    func newcomersRace(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        try await fixture.trust(signer)
        let assertions = (1...8).map { _ in signer.sign(fixture.claims()) }
        let users = try await withThrowingTaskGroup(of: UserID?.self) { group in
            for assertion in assertions { group.addTask { try await fixture.present(assertion).user } }
            return try await group.reduce(into: Set<UserID?>()) { $0.insert($1) }
        }
        #expect(users.count == 1)
        #expect(try await fixture.count("SELECT id FROM users") == 1)
        #expect(try await fixture.count("SELECT fingerprint FROM access_tokens") == 8)
    }

    @Test("A merchant's issuer is unknown to another merchant", arguments: Backend.available)
    func foreignMerchant(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        try await fixture.trust(signer)
        let other = try await fixture.merchants.create(.members(["name": "Another"]), by: commandLine).id
        let stranger = try await JWTBearerFixture.client(of: other, fixture.clients)
        let assertion = signer.sign(fixture.claims())
        #expect(try await fixture.refusal(of: assertion, from: stranger) == "assertion_of_unknown_issuer")
        // A refusal spends nothing.
        let kari = try await fixture.present(assertion).user

        // The same issuer and subject at another merchant are another user, and another key is not trusted.
        let impostor = Signer()
        _ = try await fixture.issuers.register(
            .members(["issuer": .string(signer.name), "jwks": impostor.keySet, "create_users": true]), merchant: other,
            by: commandLine)
        let forged = impostor.sign(fixture.claims())
        #expect(try await fixture.refusal(of: forged) == "assertion_key_unknown")
        #expect(try await fixture.present(forged, from: stranger).user != kari)

        let platform = try await JWTBearerFixture.client(of: nil, fixture.clients)
        #expect(try await fixture.refusal(of: assertion, from: platform) == "client_without_merchant")
    }

    @Test(
        "An assertion of an unknown user, a disabled user or a disabled issuer is refused",
        arguments: Backend.available)
    func refusedPeople(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let issuer = try await fixture.trust(signer, [:])
        #expect(try await fixture.refusal(of: signer.sign(fixture.claims())) == "unknown_user")
        _ = try await fixture.issuers.change(issuer.id, .members(["create_users": true]), by: commandLine)
        let user = try #require(try await fixture.present(signer.sign(fixture.claims())).user)
        _ = try await fixture.database.write { db in
            try db.execute("UPDATE users SET disabled_at = 1 WHERE id = \(user)")
        }
        #expect(try await fixture.refusal(of: signer.sign(fixture.claims())) == "assertion_of_disabled_account")
        _ = try await fixture.issuers.change(issuer.id, .members(["disabled": true]), by: commandLine)
        #expect(try await fixture.refusal(of: signer.sign(fixture.claims())) == "assertion_of_disabled_issuer")
    }

    @Test(
        "If a client requires verified addresses, an assertion for a user without is refused and not spent",
        arguments: Backend.available)
    func unverified(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        try await fixture.trust(signer)
        let strict = try await JWTBearerFixture.client(
            of: fixture.merchant, fixture.clients, requiringVerifiedEmail: true)
        let assertion = signer.sign(fixture.claims())
        #expect(try await fixture.refusal(of: assertion, from: strict) == "unverified_user")
        #expect(try await fixture.count("SELECT id FROM users") == 0)
        #expect(try await fixture.count("SELECT fingerprint FROM used_assertions") == 0)
        let user = try #require(try await fixture.present(assertion).user)
        let known = signer.sign(fixture.claims())
        #expect(try await fixture.refusal(of: known, from: strict) == "unverified_user")
        _ = try await fixture.database.write { db in
            try db.execute("UPDATE users SET email = 'kari@example.com', email_verified = 1 WHERE id = \(user)")
        }
        #expect(try await fixture.present(known, from: strict).user == user)
    }

    @Test("A jwt-bearer grant has scopes of its client, and never an administration scope")
    func scope() async throws {
        let fixture = try await JWTBearerFixture(.sqlite)
        try await fixture.trust(signer)
        let openID = try await fixture.present(signer.sign(fixture.claims()), scope: "openid")
        #expect(openID.scope.description == "openid")
        await #expect(throws: OAuthError.self) {
            try await fixture.present(signer.sign(fixture.claims()), scope: "admin:merchant")
        }
    }

    // MARK: Single use

    @Test(
        "An assertion is accepted once, told by its jti or its text, even if presented concurrently",
        arguments: Backend.available)
    func replay(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        try await fixture.trust(signer)
        for changes: KeyValuePairs<String, JSON> in [[:], ["jti": .null]] {
            let assertion = signer.sign(fixture.claims(changes))
            let outcomes = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 1...6 { group.addTask { try await fixture.refusal(of: assertion) } }
                return try await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(outcomes.filter { $0 == nil }.count == 1)
            #expect(outcomes.filter { $0 == "assertion_replayed" }.count == 5)
        }
        // The same jti in another assertion.
        try await fixture.present(signer.sign(fixture.claims(["jti": "one"])))
        let again = signer.sign(fixture.claims(["jti": "one", "sub": "ola"]))
        #expect(try await fixture.refusal(of: again) == "assertion_replayed")
        // Another signature over the same text, as ECDSA allows.
        let text = signer.sign(fixture.claims(["jti": .null, "sub": "twin"]))
        try await fixture.present(text)
        let twin = try #require(Self.twin(of: text))
        #expect(twin != text)
        #expect(try await fixture.refusal(of: twin) == "assertion_replayed")
    }

    /// ECDSA takes s and n - s alike.
    private static func twin(of token: String) -> String? {
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6,
            0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        guard let dot = token.lastIndex(of: "."), var signature = Base64URL.decode(token[token.index(after: dot)...])
        else { return nil }
        var borrow = 0
        for index in (0..<32).reversed() {
            let difference = Int(order[index]) - Int(signature[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            signature[32 + index] = UInt8(truncatingIfNeeded: difference)
        }
        return token[...dot] + Base64URL.encode(signature)
    }

    @Test(
        "An assertion's redemption that runs again after a lost COMMIT recognizes its own work",
        arguments: Backend.available)
    func retry(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let issuer = try await fixture.trust(signer)
        let jwt = try await AssertionKeys(keySet: signer.keySet.text)
            .verify(signer.sign(fixture.claims()), allowed: [.es256])
        let now = fixture.clock.now
        let claim = AssertionRedemption(
            assertion: try Assertion(jwt, by: issuer, to: [JWTBearerFixture.tokenURL], at: now),
            users: fixture.users, finding: .newcomer, user: UserID(1001))
        let attempt = Attempt(id: "one", family: nil, accessToken: .init(of: "a"), now: now)
        let another = Attempt(id: "two", family: nil, accessToken: .init(of: "b"), now: now)
        let outcomes = try await fixture.database.write { db in
            [try claim.win(attempt, in: db), try claim.win(attempt, in: db), try claim.win(another, in: db)]
        }
        guard case .won = outcomes[0], case .wonBefore = outcomes[1], case .refused = outcomes[2] else {
            Issue.record("\(outcomes)")
            return
        }
        // A new subject that was linked meanwhile: nothing is spent, and no user is created.
        let late = AssertionRedemption(
            assertion: claim.assertion, users: fixture.users, finding: .newcomer, user: UserID(1002))
        guard case .changed = try await fixture.database.write({ try late.win(another, in: $0) }) else {
            Issue.record("not .changed")
            return
        }
        #expect(try await fixture.count("SELECT id FROM users") == 1)
    }
}
