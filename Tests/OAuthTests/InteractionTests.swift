import Cryptography
import Directory
import Keys
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Interactions")
struct InteractionTests {
    private static let here = Fingerprint<Interaction.Browser>(text: "here")
    private static let there = Fingerprint<Interaction.Browser>(text: "there")
    private static let client = Client.ID("client")

    private struct Fixture {
        let database: any Database
        let clock = ManualClock()
        let interactions: Interactions

        init(_ backend: Backend) async throws {
            database = try await backend.open()
            let random = SystemRandom()
            interactions = Interactions(
                database: database, seal: Seal(masterKey: .random(from: random), random: random), clock: clock,
                random: random)
        }

        func begin(in browser: Fingerprint<Interaction.Browser>? = here, _ request: String = "state=s") async throws
            -> Interaction
        {
            let begun = try await interactions.begin(request, of: client, in: browser)
            guard case .begun(let interaction) = begun else { throw OAuthError(.serverError, "throttled", "") }
            return interaction
        }

        func keep(_ interaction: Interaction, for duration: Duration) async throws {
            try await database.write { [interactions] db in
                try interactions.keep(interaction, for: duration, in: db)
            }
        }

        func signIn(
            _ interaction: Interaction, as another: Interaction.ID? = nil, session: Fingerprint<Session>
        ) async throws -> Interaction? {
            let (now, id) = (clock.now, another ?? interaction.id)
            try await database.write { [interactions] db in
                try interactions.signedIn(
                    interaction, as: id, in: here, session: session, isSeen: true, at: now, in: db)
            }
            return try await interactions.find(id, in: here)
        }

        /// The requests as the table has them.
        func stored() async throws -> [String] {
            try await database.read { db in
                try db.rows("SELECT request FROM interactions ORDER BY fingerprint").map { try $0.get("request") }
            }
        }
    }

    @Test(
        "An interaction is found only in its own browser, by its whole id and before it expires",
        arguments: Backend.available
    )
    func bound(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let begun = try await fixture.begin()
        let found = try #require(try await fixture.interactions.find(begun.id, in: Self.here))
        #expect(
            found.request == "state=s" && found.client == Self.client && found.answeredIn == nil
                && found.answers == .none)
        #expect(try await fixture.interactions.find(begun.id, in: Self.there) == nil)
        #expect(try await fixture.interactions.find(begun.id, in: nil) == nil)
        let edited = Interaction.ID(String(begun.id.value.dropLast()) + (begun.id.value.hasSuffix("A") ? "B" : "A"))
        #expect(try await fixture.interactions.find(edited, in: Self.here) == nil)
        fixture.clock.advance(by: Interaction.lifetime)
        #expect(try await fixture.interactions.find(begun.id, in: Self.here) == nil)
        await fixture.database.close()
    }

    @Test(
        "An untouched interaction ends after an hour, and each step of its user prolongs it",
        arguments: Backend.available)
    func untouched(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let (left, used) = (try await fixture.begin(), try await fixture.begin())
        fixture.clock.advance(by: .minutes(59))
        _ = try await fixture.signIn(used, session: Fingerprint(text: "ada"))
        fixture.clock.advance(by: .minutes(1))
        #expect(try await fixture.interactions.find(left.id, in: Self.here) == nil)
        fixture.clock.advance(by: .minutes(100))
        try await fixture.interactions.saw(used, in: Fingerprint(text: "ada"))
        fixture.clock.advance(by: .minutes(179))
        #expect(try await fixture.interactions.find(used.id, in: Self.here) != nil)
        fixture.clock.advance(by: .minutes(1))
        #expect(try await fixture.interactions.find(used.id, in: Self.here) == nil)
        await fixture.database.close()
    }

    @Test("The ID token hint of an interaction is stored sealed", arguments: Backend.available)
    func sealedHint(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let request = "client_id=c&id_token_hint=eyJ0.eyJz.c2ln&state=s"
        let begun = try await fixture.begin(request)
        let target = fixture.interactions.another(of: begun, by: nil)
        let other = try await fixture.signIn(begun, as: target, session: Fingerprint(text: "a"))
        let stored = try await fixture.stored()
        #expect(stored.count == 2)
        #expect(stored.allSatisfy { $0.hasPrefix("client_id=c&id_token_hint=") && $0.hasSuffix("&state=s") })
        #expect(stored.allSatisfy { !$0.contains("eyJ0") && !$0.contains("c2ln") })
        #expect(try await fixture.interactions.find(begun.id, in: Self.here)?.request == request)
        #expect(other?.request == request)
        await fixture.database.close()
    }

    @Test(
        "A sealed ID token hint is unsealed in its own row only, and read as it stands in another row",
        arguments: Backend.available)
    func movedHint(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let (plain, sealed) = ("id_token_hint=eyJ0.eyJz.c2ln", try await fixture.begin("id_token_hint=eyJ0.eyJz.c2ln"))
        let stored = try #require(try await fixture.stored().first)
        let other = try await fixture.begin()
        for (request, read) in [(stored, stored), ("id_token_hint=~", "id_token_hint=~")] {
            try await fixture.database.write { db in
                _ = try db.execute(
                    "UPDATE interactions SET request = \(request) WHERE fingerprint = \(other.id.fingerprint)")
            }
            #expect(try await fixture.interactions.find(other.id, in: Self.here)?.request == read)
        }
        #expect(try await fixture.interactions.find(sealed.id, in: Self.here)?.request == plain)
        await fixture.database.close()
    }

    @Test(
        "The sweeper deletes the oldest interactions without sign-in or mail beyond a limit",
        arguments: Backend.available)
    func bounded(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let table = StoredTable("interactions", retention: [Interactions.limit(to: 10)])
        let retention = Retention(database: fixture.database, tables: [table])
        let mailed = try await fixture.begin(in: nil)
        try await fixture.keep(mailed, for: .hours(24))
        let signedIn = try await fixture.begin()
        _ = try await fixture.signIn(signedIn, session: Fingerprint(text: "ada"))
        var begun: [Interaction] = []
        for _ in 1...30 {
            fixture.clock.advance(by: .milliseconds(1))
            begun.append(try await fixture.begin(in: nil))
        }
        func sweep() async -> Int { await retention.sweep(at: fixture.clock.now, batch: 15).gone }
        #expect(await sweep() == 15)
        #expect(await sweep() == 5)
        #expect(await sweep() == 0)
        for (number, interaction) in begun.enumerated() {
            #expect((try await fixture.interactions.find(interaction.id) != nil) == (number >= 20), "\(number)")
        }
        #expect(try await fixture.interactions.find(mailed.id) != nil)
        #expect(try await fixture.interactions.find(signedIn.id) != nil)
        await fixture.database.close()
    }

    @Test("An interaction ends a day after it began, even if its user keeps using it", arguments: Backend.available)
    func keptAlive(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let ada = Fingerprint<Session>(text: "ada")
        let kept = try await fixture.begin()
        _ = try await fixture.signIn(kept, session: ada)
        for _ in 1...11 {
            fixture.clock.advance(by: .hours(2))
            try await fixture.interactions.saw(kept, in: ada)
        }
        fixture.clock.advance(by: .minutes(119))
        #expect(try await fixture.interactions.find(kept.id, in: Self.here) != nil)
        try await fixture.interactions.allowed(Scope(["profile"]), of: kept, in: ada)
        fixture.clock.advance(by: .minutes(1))
        #expect(try await fixture.interactions.find(kept.id, in: Self.here) == nil)

        var begun: [Interaction] = []
        for _ in 1...15 {
            fixture.clock.advance(by: .milliseconds(1))
            begun.append(try await fixture.begin())
            _ = try await fixture.signIn(begun[begun.count - 1], session: ada)
        }
        let table = StoredTable("interactions", retention: [Interactions.limitOfSignedIn(to: 10)])
        _ = await Retention(database: fixture.database, tables: [table]).sweep(at: fixture.clock.now)
        for (number, interaction) in begun.enumerated() {
            #expect((try await fixture.interactions.find(interaction.id) != nil) == (number >= 5), "\(number)")
        }
        await fixture.database.close()
    }

    @Test(
        "The sweeper does not delete a new interaction in favour of earlier ones with a longer lifetime",
        arguments: Backend.available)
    func fresh(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        for _ in 1...30 {
            _ = try await fixture.interactions.begin(
                "a=b", of: Client.ID("c"), in: nil, lifetime: Interaction.lifetime)
            fixture.clock.advance(by: .milliseconds(1))
        }
        let fresh = try await fixture.begin(in: nil)
        let table = StoredTable("interactions", retention: [Interactions.limit(to: 10)])
        let gone = await Retention(database: fixture.database, tables: [table]).sweep(at: fixture.clock.now).gone
        #expect(gone == 21)
        #expect(try await fixture.interactions.find(fresh.id) != nil)
        await fixture.database.close()
    }

    @Test(
        "An interaction begun without a browser is bound to one browser, even if several try at once",
        arguments: Backend.available)
    func race(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let begun = try await fixture.begin(in: nil)
        let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let browser = Fingerprint<Interaction.Browser>(text: "browser \(number)")
                    return try await fixture.interactions.bind(begun, to: browser) != nil
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(winners == 1)
        await fixture.database.close()
    }

    @Test("An interaction is answered once, even if several tabs try at once", arguments: Backend.available)
    func answers(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let signedIn = try #require(try await fixture.signIn(try await fixture.begin(), session: "one"))
        #expect(signedIn.answers.isSignedIn && signedIn.answers.isPresent(at: fixture.clock.now))
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { try await fixture.interactions.answer(signedIn, in: "one") } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(answers == 1)
        let answered = try #require(try await fixture.interactions.find(signedIn.id, in: Self.here))
        #expect(answered.answeredIn == nil && answered.answers == .none)
        await fixture.database.close()
    }

    @Test("Steps of an interaction done in one session do not count in another session", arguments: Backend.available)
    func anotherSignIn(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let signedIn = try #require(try await fixture.signIn(try await fixture.begin(), session: "one"))
        #expect(signedIn.answers(in: "one").isSignedIn)
        #expect(!signedIn.answers(in: "two").isSignedIn && !signedIn.answers(in: nil).isSignedIn)
        try await fixture.interactions.saw(signedIn, in: "two")
        let seen = try #require(try await fixture.interactions.find(signedIn.id, in: Self.here))
        #expect(!seen.answers(in: "two").isSignedIn, "being there is not signing in")
        #expect(seen.answers(in: "two").isPresent(at: fixture.clock.now))
        fixture.clock.advance(by: InteractionAnswers.longestPresence)
        #expect(!seen.answers(in: "two").isPresent(at: fixture.clock.now))
        await fixture.database.close()
    }

    @Test(
        "A browser has at most thirty-two open interactions; a further one ends the oldest",
        arguments: Backend.available)
    func room(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let other = try await fixture.begin(in: Self.there)
        var all: [Interaction] = []
        for _ in 0...Interaction.mostOfBrowser {
            fixture.clock.advance(by: .milliseconds(1))
            all.append(try await fixture.begin())
        }
        #expect(try await fixture.interactions.find(all[0].id, in: Self.here) == nil)
        for kept in all.dropFirst() { #expect(try await fixture.interactions.find(kept.id, in: Self.here) != nil) }
        #expect(try await fixture.interactions.find(other.id, in: Self.there) != nil)
        await fixture.database.close()
    }

    @Test(
        "An interaction is kept while the mail sent for it is valid, and then deleted by the sweeper",
        arguments: Backend.available)
    func swept(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let begun = try await fixture.begin()
        try await fixture.keep(begun, for: .hours(24))
        try await fixture.keep(begun, for: .hours(1))
        fixture.clock.advance(by: .hours(23))
        #expect(try await fixture.interactions.find(begun.id, in: Self.here) != nil)
        fixture.clock.advance(by: .hours(1))
        #expect(try await fixture.interactions.find(begun.id, in: Self.here) == nil)
        let sweep = await Retention(database: fixture.database).sweep(only: ["interactions"], at: fixture.clock.now)
        #expect(sweep.gone == 1 && sweep.failures.isEmpty)
        await fixture.database.close()
    }

    @Test("A mail opened in another browser continues the interaction there under a new id; the first one waits")
    func elsewhere() async throws {
        let fixture = try await Fixture(.sqlite)
        let (begun, now) = (try await fixture.begin(), fixture.clock.now)
        let target = fixture.interactions.another(of: begun, by: nil)
        try await fixture.database.write { [interactions = fixture.interactions] db in
            try interactions.signedIn(
                begun, as: target, in: Self.there, session: "one", isSeen: true, at: now, in: db)
        }
        let copy = try #require(try await fixture.interactions.find(target, in: Self.there))
        #expect(copy.request == begun.request && copy.answers(in: "one").isSignedIn)
        #expect(try await fixture.interactions.find(begun.id, in: Self.here)?.answers == InteractionAnswers.none)
        #expect(try await fixture.interactions.find(begun.id, in: Self.there) == nil)
        await fixture.database.close()
    }

    @Test(
        "The sweeper deletes surplus interactions up to a boundary that it reads once, outside its writes",
        arguments: [false, true])
    func boundary(isSignedIn: Bool) async throws {
        let (base, clock, random) = (try await Backend.sqlite.open(), ManualClock(), SystemRandom())
        let interactions = Interactions(
            database: base, seal: Seal(masterKey: .random(from: random), random: random), clock: clock, random: random)
        for _ in 1...30 {
            clock.advance(by: .milliseconds(1))
            guard case .begun = try await interactions.begin("state=s", of: Client.ID("client"), in: nil) else {
                Issue.record("throttled")
                return
            }
        }
        if isSignedIn {
            try await base.write { db in _ = try db.execute("UPDATE interactions SET session = 'ada'") }
        }
        let limit = isSignedIn ? Interactions.limitOfSignedIn(to: 10) : Interactions.limit(to: 10)
        let database = Explained(base: base)
        let retention = Retention(database: database, tables: [StoredTable("interactions", retention: [limit])])
        var sweep = await retention.sweep(at: clock.now, batch: 8)
        var gone = [sweep.gone]
        while !sweep.behind.isEmpty {
            sweep = await retention.sweep(sweep.behind, at: clock.now, batch: 8)
            gone.append(sweep.gone)
        }
        #expect(gone == [8, 8, 4] && sweep.failures.isEmpty)
        #expect(database.count("OFFSET") == 1)
        #expect(database.writes.count == 3 && !database.writes.contains { $0.contains("OFFSET") })
        database.forget()
        #expect(await retention.sweep(at: clock.now, batch: 8).gone == 0)
        #expect(database.writes.isEmpty, "nothing is beyond the bound")
        await database.close()
    }
}
