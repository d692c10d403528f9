import Directory
import Federation
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Deletion of issuers in bounded parts")
struct IssuerDeletionTests {
    @Test(
        "A deleted issuer's remaining links to users are deleted by later rounds, each within its budget",
        arguments: Backend.available)
    func links(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let signer = Signer()
        let issuer = try await fixture.trust(signer)
        try await fixture.present(signer.sign(fixture.claims()))
        try await link(450, to: issuer, fixture)
        let budget = BulkErasure.Budget(batches: 1)
        #expect(try await fixture.issuers.delete(issuer.id, within: budget, by: commandLine))
        #expect(try await fixture.count("SELECT subject FROM issuer_subjects") == 251)
        #expect(try await fixture.issuers.finishDeletions(within: budget).isBehind)
        #expect(try await fixture.count("SELECT subject FROM issuer_subjects") == 51)
        let sweep = Retention(database: fixture.database)
        _ = await sweep.sweep(only: ["goneIssuers"], at: fixture.clock.now)
        #expect(try await fixture.count("SELECT id FROM issuers") == 1, "while there are links")
        let last = try await fixture.issuers.finishDeletions(within: budget)
        #expect(last.gone == 1 && !last.isBehind)
        _ = await sweep.sweep(only: ["goneIssuers"], at: fixture.clock.now)
        #expect(try await fixture.count("SELECT id FROM issuers") == 0)
        #expect(try await fixture.count("SELECT id FROM users") == 1, "the user stays")
        await fixture.database.close()
    }

    @Test(
        "An issuer being deleted is not listed and identifies no user; its name can be registered again",
        arguments: Backend.available)
    func unseen(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let signer = Signer()
        let issuer = try await fixture.trust(signer)
        try await fixture.present(signer.sign(fixture.claims()))
        #expect(try await fixture.issuers.delete(issuer.id, within: BulkErasure.Budget(batches: 0), by: commandLine))
        #expect(try await fixture.refusal(of: signer.sign(fixture.claims())) == "assertion_of_unknown_issuer")
        #expect(try await fixture.issuers.find(issuer.id) == nil)
        #expect(try await fixture.issuers.find(signer.name, of: fixture.merchant) == nil)
        for merchant in [nil, fixture.merchant] {
            #expect(try await fixture.issuers.list(of: merchant, after: "", count: 9).isEmpty)
        }
        #expect(try await fixture.issuers.change(issuer.id, ["disabled": false], by: commandLine) == nil)
        #expect(try await fixture.issuers.delete(issuer.id, by: commandLine) == false)
        let user = try await fixture.database.read { db in
            try db.rows("SELECT user_id FROM issuer_subjects").first?.get("user_id", as: Int64.self)
        }
        #expect(user != nil)

        // The new issuer of the name has none of the links.
        try await fixture.trust(signer, ["create_users": false])
        #expect(try await fixture.refusal(of: signer.sign(fixture.claims())) == "unknown_user")
        #expect(try await fixture.issuers.finishDeletions(within: .request).gone == 1)
        #expect(try await fixture.count("SELECT issuer_id FROM issuer_settings") == 1)
        await fixture.database.close()
    }

    @Test(
        "A merchant's deletion ends the sessions based on its issuers, with other merchants' tokens in them",
        arguments: Backend.available)
    func withMerchant(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let signer = Signer()
        let issuer = try await fixture.trust(signer)
        try await fixture.present(signer.sign(fixture.claims()))
        let other = try await fixture.merchants.create(.members(["name": "Rival"]), by: commandLine).id
        let site = try await JWTBearerFixture.client(of: other, fixture.clients)
        try await open(120, by: issuer, at: site, fixture)
        let sessions: SQL = "SELECT id FROM sessions WHERE ended_at IS NULL"
        let families: SQL = "SELECT id FROM token_families WHERE client_id = \(site.id) AND ended_at IS NULL"
        let budget = BulkErasure.Budget(batches: 1)
        try await fixture.issuers.deleteAll(of: fixture.merchant, within: budget)
        #expect(try await fixture.merchants.delete(fixture.merchant, within: .unlimited, by: commandLine))
        #expect(try await fixture.count("SELECT issuer_id FROM issuer_settings") == 0)
        for live in [sessions, families] { #expect(try await fixture.count(live) == 70) }
        #expect(try await fixture.issuers.finishDeletions(within: budget).isBehind)
        for live in [sessions, families] { #expect(try await fixture.count(live) == 20) }
        let last = try await fixture.issuers.finishDeletions(within: BulkErasure.Budget(batches: 9))
        #expect(last.gone == 1 && !last.isBehind && last.failures.isEmpty)
        for live in [sessions, families] { #expect(try await fixture.count(live) == 0) }
        #expect(try await fixture.issuers.finishDeletions(within: budget).gone == 0)
        await fixture.database.close()
    }

    @Test(
        "A merchant's issuers are deleted as soon as its deletion begins, even if the rest is interrupted",
        arguments: Backend.available)
    func withMerchantAtOnce(_ backend: Backend) async throws {
        struct Stopped: Error {}
        let fixture = try await JWTBearerFixture(backend)
        for name in ["https://one.example", "https://two.example"] { try await fixture.trust(Signer(name)) }
        let live: SQL = "SELECT id FROM issuers WHERE gone_at IS NULL"
        #expect(try await fixture.count(live) == 2)
        await #expect(throws: Stopped.self) {
            _ = try await fixture.merchants.delete(fixture.merchant, by: commandLine, first: { throw Stopped() })
        }
        #expect(try await fixture.count(live) == 0)
        await fixture.database.close()
    }

    @Test("An issuer whose name contains white space is refused at registration", arguments: Backend.available)
    func blanks(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        for name in ["a b", "a\u{A0}b", "a\u{2003}b"] {
            let fault = await #expect(throws: JSONFault.self, "\(name)") {
                try await fixture.trust(Signer(name))
            }
            #expect(fault?.member == "issuer", "\(name)")
        }
        await fixture.database.close()
    }

    @Test(
        "A deleted issuer is remembered while links, sessions or tokens depend on it, even if registered anew",
        arguments: Backend.available)
    func forgotten(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let signer = Signer()
        let first = try await fixture.trust(signer)
        try await fixture.present(signer.sign(fixture.claims()))
        let other = try await fixture.merchants.create(.members(["name": "Rival"]), by: commandLine).id
        let site = try await JWTBearerFixture.client(of: other, fixture.clients)
        try await open(1, by: first, at: site, fixture)
        // The token family outlives the session.
        _ = try await fixture.database.write { db in
            try db.execute("UPDATE token_families SET session_id = NULL WHERE client_id = \(site.id)")
        }
        func remembered() async throws -> Int {
            let sweep = await Retention(database: fixture.database).sweep(
                only: ["goneIssuers"], at: fixture.clock.now)
            #expect(sweep.failures.isEmpty)
            return try await fixture.count("SELECT id FROM issuers WHERE gone_at IS NOT NULL")
        }
        #expect(try await fixture.issuers.delete(first.id, within: BulkErasure.Budget(batches: 0), by: commandLine))
        let second = try await fixture.trust(signer)
        #expect(try await remembered() == 1)
        #expect(try await fixture.issuers.finishDeletions(within: .request).gone == 1)
        #expect(try await fixture.count("SELECT id FROM sessions WHERE ended_at IS NULL") == 0)
        #expect(try await fixture.count("SELECT subject FROM issuer_subjects") == 0)
        #expect(try await fixture.count("SELECT id FROM token_families WHERE ended_at IS NULL") == 1, "another's")
        #expect(try await fixture.issuers.finishDeletions(within: .request).gone == 0)
        #expect(try await remembered() == 1)
        _ = try await fixture.database.write { db in try db.execute("UPDATE token_families SET ended_at = 1") }
        #expect(try await remembered() == 0)
        #expect(try await fixture.issuers.find(second.id)?.disabledAt == nil)
        #expect(try await fixture.issuers.delete(second.id, by: commandLine))
        #expect(try await remembered() == 0)
        await fixture.database.close()
    }

    /// Opens sessions that rest on `issuer`, with a token family of `client` in each.
    private func open(
        _ count: Int, by issuer: TrustedIssuer, at client: ClientCredentials, _ fixture: JWTBearerFixture
    ) async throws {
        let now = fixture.clock.now
        try await fixture.database.write { db in
            let user: Int64 = try #require(try db.rows("SELECT id FROM users").first).get("id")
            for number in 1...count {
                let session = "s\(number)"
                try db.execute(
                    """
                    INSERT INTO sessions (id, fingerprint, user_id, issuer_id, signed_in_at, created_at, seen_at,
                        expires_at, user_agent, ip_address, is_dated, method)
                    VALUES (\(session), \(session), \(user), \(issuer.id), 0, 0, 0, \(now + .hours(1)), '', '', 1,
                        'issuer')
                    """)
                try db.execute(
                    """
                    INSERT INTO token_families (id, path, client_id, user_id, scope, signed_in_at, created_at,
                        expires_at,
                        session_id, issuer_id)
                    VALUES (\(session), \(session), \(client.id), \(user), 'openid', \(now), \(now), \(now + .days(1)),
                        \(session), \(issuer.id))
                    """)
            }
        }
    }

    /// Links `count` more subjects to the only user.
    private func link(_ count: Int, to issuer: TrustedIssuer, _ fixture: JWTBearerFixture) async throws {
        let now = fixture.clock.now
        try await fixture.database.write { db in
            for number in 1...count {
                try db.execute(
                    """
                    INSERT INTO issuer_subjects (issuer_id, subject, user_id, is_confined, created_at)
                    SELECT \(issuer.id), \("subject \(number)"), id, 0, \(now) FROM users
                    """)
            }
        }
    }
}
