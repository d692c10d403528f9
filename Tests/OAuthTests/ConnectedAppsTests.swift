import Authentication
import Cryptography
import Directory
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("A user's connected apps")
struct ConnectedAppsTests {
    @Test(
        "A user's connected apps are listed newest first, each with its merchant, its time and its scope",
        arguments: Backend.available)
    func list(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let apps = ConnectedApps(database: world.database, clock: world.clock, callbacks: .unheard, events: .unheard)
        let consents = Consents(database: world.database, callbacks: .unheard)
        #expect(try await apps.list(of: world.user).isEmpty)
        #expect(try await apps.scope(of: world.client(world.phone), for: world.user) == nil)
        try await world.signIn()
        try await world.database.write { db in
            _ = try db.execute("UPDATE clients SET scope = 'email profile' WHERE id = \(world.backend.id)")
        }
        world.clock.advance(by: .seconds(5))
        _ = try await consents.allow(
            Scope(["email"]), of: Scope(["email", "profile"]), to: try await world.client(world.backend),
            by: world.user,
            at: world.clock.now)
        let list = try await apps.list(of: world.user)
        #expect(list.map(\.client) == [world.backend.id, world.phone.id])
        #expect(list.map(\.scope) == [Scope(["email"]), .empty])
        #expect(list.map(\.merchantName) == ["Loom", "Loom"])
        #expect(list.first?.since == world.clock.now)
        #expect(list.last?.since == world.clock.now - .seconds(5))
        #expect(try await apps.scope(of: world.client(world.backend), for: world.user) == Scope(["email"]))
        #expect(try await apps.scope(of: world.client(world.phone), for: world.user) == .empty)
        await world.database.close()
    }

    @Test(
        "A connected app's scope shrinks with the scope its client is registered for, claim by claim",
        arguments: Backend.available)
    func narrowed(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let apps = ConnectedApps(database: world.database, clock: world.clock, callbacks: .unheard, events: .unheard)
        let consents = Consents(database: world.database, callbacks: .unheard)
        let allowed = Scope(["email", "claim:birthdate", "claim:phone_number"])
        _ = try await consents.allow(
            allowed, of: allowed, to: try await world.client(world.backend), by: world.user, at: world.clock.now)
        let cases: [(String, Scope)] = [
            ("email profile phone", allowed), ("email profile", Scope(["email", "claim:birthdate"])),
            ("profile", Scope(["claim:birthdate"])), ("openid", .empty),
        ]
        for (registered, rest) in cases {
            try await world.database.write { db in
                _ = try db.execute("UPDATE clients SET scope = \(registered) WHERE id = \(world.backend.id)")
            }
            #expect(try await apps.scope(of: world.client(world.backend), for: world.user) == rest, "\(registered)")
            #expect(try await apps.list(of: world.user).map(\.scope) == [rest], "\(registered)")
        }
        await world.database.close()
    }

    @Test(
        "A user's answer to a consent page adds and removes only scopes that the page showed",
        arguments: Backend.available)
    func allow(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let consents = Consents(database: world.database, callbacks: .unheard)
        let began = world.clock.now
        let steps: [(shown: [String], allowed: [String], kept: [String])] = [
            (["profile", "email"], [], []),
            (["profile", "email"], ["profile"], ["profile"]),
            (["profile", "email"], ["profile"], ["profile"]),
            (["email"], ["email", "phone"], ["profile", "email"]),
            (["profile", "email"], ["email"], ["email"]),
        ]
        for (shown, allowed, kept) in steps {
            world.clock.advance(by: .seconds(1))
            _ = try await consents.allow(
                Scope(allowed), of: Scope(shown), to: try await world.client(world.phone), by: world.user,
                at: world.clock.now)
            let consent = try #require(try await consents.find(world.user, world.phone.id))
            #expect(consent.scope == Scope(kept))
            #expect(consent.createdAt == began + .seconds(1))
        }
        #expect(try await consents.find(world.user, world.backend.id) == nil)
        await world.database.close()
    }

    @Test(
        "Revoking an app ends its tokens, codes, consent and connection, and no other app's",
        arguments: Backend.available)
    func revoke(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let apps = ConnectedApps(database: world.database, clock: world.clock, callbacks: .unheard, events: .unheard)
        let consents = Consents(database: world.database, callbacks: .unheard)
        let phone = try await world.signIn()
        let own = try await world.signIn(on: world.backend)
        let token = try await world.accessTokens.present(phone.accessToken)
        let bought = try await world.exchangeCodes.issue(
            try ExchangeRequest(
                try Parameters([(name: "clientId", value: world.backend.id.text), (name: "type", value: "code")])),
            for: token
        ).code
        for client in [world.phone, world.backend] {
            _ = try await consents.allow(
                Scope(["email"]), of: Scope(["email"]), to: try await world.client(client), by: world.user,
                at: world.clock.now)
        }

        try await apps.revoke(world.backend.id, of: world.user)
        #expect(await !world.isLive(own))
        #expect(await world.isLive(phone))
        await #expect(throws: OAuthError.self) { try await world.refresh(own, as: world.backend) }
        await #expect(throws: OAuthError.self) {
            try await world.token(
                [
                    "grant_type": "authorization_code", "code": bought.value,
                    "redirect_uri": "https://loom.example/back",
                ], as: world.backend)
        }
        #expect(try await apps.list(of: world.user).map(\.client) == [world.phone.id])
        #expect(try await consents.find(world.user, world.backend.id) == nil)
        #expect(try await consents.find(world.user, world.phone.id) != nil)

        // A second revocation changes nothing, and an unconnected app is no error.
        try await apps.revoke(world.backend.id, of: world.user)
        try await apps.revoke(world.phone.id, of: UserID(1))
        #expect(await world.isLive(phone))
        await world.database.close()
    }

    @Test(
        "A second revocation of an app, at a node whose clock is behind, does not revive older codes",
        arguments: Backend.available)
    func behind(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let behind = ManualClock()
        world.clock.advance(by: .seconds(1))
        let token = try await world.accessTokens.present(try await world.signIn().accessToken)
        let bought = try await world.exchangeCodes.issue(
            try ExchangeRequest(
                try Parameters([(name: "clientId", value: world.backend.id.text), (name: "type", value: "code")])),
            for: token
        ).code
        for clock in [world.clock, behind] {
            try await ConnectedApps(database: world.database, clock: clock, callbacks: .unheard, events: .unheard)
                .revoke(world.backend.id, of: world.user)
        }
        await #expect(throws: OAuthError.self) {
            try await world.token(
                [
                    "grant_type": "authorization_code", "code": bought.value,
                    "redirect_uri": "https://loom.example/back",
                ], as: world.backend)
        }
        let ends = try await world.database.rows("SELECT ended_at FROM exchange_code_ends")
        #expect(try ends.map { try $0.get("ended_at", as: Timestamp.self) } == [world.clock.now])
        await world.database.close()
    }

    @Test("No authorization code is issued without consent to the whole scope, or after its revocation")
    func overtaken() async throws {
        let fixture = try await AuthorizationFixture()
        let (database, clock) = (fixture.database, fixture.clock)
        let user = UserID(7)
        try await database.write { db in
            try Users.insertLinked(user, email: nil, profile: [], at: clock.now, in: db)
        }
        let codes = AuthorizationCodes(database: database, random: SystemRandom()) { _, _, _, _ in }
        let consents = Consents(database: database, callbacks: .unheard)
        let request = try await fixture.request(.stranger)
        let client = request.returnAddress.client
        func code() async throws -> Secret<AuthorizationCode>? {
            try await codes.issue(
                request, in: .signedIn(user, "s", at: clock.now), at: clock.now)
        }
        #expect(try await code()?.value == nil)
        _ = try await consents.allow(
            Scope(["openid"]), of: request.scope, to: client, by: user, at: clock.now)
        #expect(try await code()?.value == nil)
        _ = try await consents.allow(request.scope, of: request.scope, to: client, by: user, at: clock.now)
        #expect(try await code()?.value != nil)
        try await ConnectedApps(database: database, clock: clock, callbacks: .unheard, events: .unheard).revoke(
            client.id, of: user)
        #expect(try await code()?.value == nil)
        await database.close()
    }

    @Test("Revoking one app, or disconnecting one merchant, reads no token families of others")
    func others() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let (world, elsewhere) = (try await TokenFixture(database), try await TokenFixture(database))
        try await world.signIn()
        let now = world.clock.now
        try await database.write { db in
            for number in 1...50 {
                try db.execute(
                    """
                    INSERT INTO token_families (id, path, client_id, user_id, scope, signed_in_at, created_at,
                        expires_at)
                    VALUES (\("other-\(number)"), \("other-\(number)"),
                        \(elsewhere.phone.id), \(world.user), 'email', \(now), \(now),
                        \(now + .days(1)))
                    """)
            }
        }
        let apps = ConnectedApps(database: database, clock: world.clock, callbacks: .unheard, events: .unheard)
        let families = TokenFamilies(database: database, callbacks: .unheard, events: .unheard)
        let ending = "FROM token_families f WHERE f.ended_at IS NULL AND f.user_id = $1 AND f.client_id"
        for isOfOneApp in [true, false] {
            try await database.write { db in try Connections.connect(world.user, to: world.phone.id, at: now, in: db) }
            database.forget()
            if isOfOneApp {
                try await apps.revoke(world.phone.id, of: world.user)
            } else {
                try await families.disconnect(world.user, from: world.merchant, at: now, by: commandLine)
            }
            database.expect(ending, uses: "token_families_by_user (user_id=? AND client_id=?")
            #expect(database.count("$40") == 0, "it names each of the others")
        }
        #expect(try await world.count("SELECT id FROM token_families WHERE ended_at IS NULL") == 50)
        await database.close()
    }

    @Test("A user's list of connected apps is read apart from the database reads that serve requests")
    func aside() async throws {
        let database = CountedReads(base: try await Backend.sqlite.open())
        let world = try await TokenFixture(database)
        try await world.signIn()
        let apps = ConnectedApps(database: database, clock: world.clock, callbacks: .unheard, events: .unheard)
        let (reads, aside) = (database.reads, database.readsAside)
        #expect(try await apps.list(of: world.user).count == 1)
        #expect(database.reads == reads && database.readsAside == aside + 1)
        await database.close()
    }

    @Test("Each statement about connected apps finds its rows by an index")
    func plans() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let world = try await TokenFixture(database)
        try await world.signIn()
        database.forget()
        let apps = ConnectedApps(database: database, clock: world.clock, callbacks: .unheard, events: .unheard)
        let consents = Consents(database: database, callbacks: .unheard)
        _ = try await consents.allow(
            Scope(["email"]), of: Scope(["email"]), to: try await world.client(world.phone), by: world.user,
            at: world.clock.now)
        #expect(try await apps.list(of: world.user).count == 1)
        #expect(try await apps.scope(of: world.client(world.phone), for: world.user) != nil)
        try await apps.revoke(world.phone.id, of: world.user)
        database.expectIndexes(atLeast: 12)
        await database.close()
    }
}

extension TokenFixture {
    fileprivate func client(_ credentials: ClientCredentials) async throws -> Client {
        try #require(try await database.read { db in try Clients.find(credentials.id, in: db) })
    }
}
