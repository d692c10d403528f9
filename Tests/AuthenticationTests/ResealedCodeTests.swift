import Authentication
import Cryptography
import Directory
import Keys
import Storage
import TestSupport
import Testing
import Values

/// Codes are stored under a key that comes from the master key.
@Suite struct ResealedCodeTests {
    private static let browser = Fingerprint<Authentication.Browser>(of: "a browser")

    @Test(
        "After a change of the master key mailed codes are expired, not wrong, and mailed links still work",
        arguments: Backend.available)
    func resealed(_ backend: Backend) async throws {
        let random = SystemRandom()
        let (old, new) = (MasterKey.random(from: random), MasterKey.random(from: random))
        let database = try await backend.open()
        _ = try await MasterKeySource.given(old).masterKey(for: database, random: random)
        let clock = ManualClock()
        func verifications(_ codeKey: [UInt8]) -> Verifications {
            Verifications(database: database, clock: clock, random: random, codeKey: codeKey)
        }
        let (before, after) = (verifications([1]), verifications([2]))
        let sent = before.draft(.signUp, email: "ada@example.com", browser: Self.browser)
        let unsent = before.draft(.signIn, email: "eve@example.com", browser: Self.browser).blank
        try await database.write { db in
            for draft in [sent, unsent] { try Verifications.store(draft, in: db) }
        }
        #expect(try await before.awaiting(sent.verification.id, .signUp, in: Self.browser) != nil)

        try await Resealing(from: old, to: new, random: random).run(on: database)

        for (draft, code) in [(sent, try #require(sent.code)), (unsent, "123456")] {
            let (id, purpose) = (draft.verification.id, draft.verification.purpose)
            #expect(try await after.awaiting(id, purpose, in: Self.browser) == nil)
            let taken = try await database.write { db in
                try after.take(
                    code: code, id: id, purpose: purpose, browser: Self.browser, attempt: "a", in: db)
            }
            guard case .failure(.gone(reason: "code_of_old_key")) = taken else {
                Issue.record("\(taken)")
                continue
            }
        }
        let link = try #require(sent.link)
        let opened = try await database.write { db in
            try after.take(link: link, .signUp, attempt: "b", in: db)
        }
        #expect(try opened.get().email == "ada@example.com")
        await database.close()
    }
}
