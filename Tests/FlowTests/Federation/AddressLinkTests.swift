import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("An issuer's verified e-mail address links its user only where the issuer runs that mail")
struct AddressLinkTests {
    private static let google = "https://accounts.google.com"
    private static let links: KeyValuePairs<String, JSON> = ["link_by_email": true]

    /// A user with the address `email`, which is verified unless `verified` is false.
    private func makeUser(_ story: IssuerStory, _ email: String, verified: Bool = true) async throws -> String {
        try await World.make(
            story.world.server, story.world.admin, "users",
            [
                "email": .string(email), "password": .string(World.password), "email_verified": .bool(verified),
                "locale": "nb-NO",
            ]
        ).require("user_id")
    }

    @Test(
        "A verified address whose mail Google runs links Google's subject to its user, who is told by mail",
        arguments: Backend.available)
    func gmail(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, Self.links, provider: "google")
            let kari = try await makeUser(story, "kari@gmail.com")
            let answer = try await story.signIn(
                at: host, ["email": "Kari@GMail.com", "email_verified": true, "name": "Somebody"])
            #expect(answer.json["user_id"]?.string == kari, "\(answer)")
            let letter = try await story.world.server.mail.letter(to: "kari@gmail.com")
            #expect(letter.text.contains("Google") && letter.text.contains("http://spindle.test/account"))
            #expect(!letter.subject.contains("Somebody"))
            // The user's profile stays as it was; and the link is to the subject, not the address.
            let me = try await story.world.server.get("/me", bearer: answer.require("access_token"))
            #expect(me.json["name"] == nil)
            let later = try await story.signIn(at: host, ["email": "another@gmail.com", "email_verified": true])
            #expect(later.json["user_id"]?.string == kari)
            #expect(try await story.links() == 1)
            #expect(story.world.server.mail.letters(to: "kari@gmail.com").count == 1)

            // An organisation whose mail Google runs.
            let ola = try await makeUser(story, "ola@loom.example")
            let organised: KeyValuePairs<String, JSON> = [
                "sub": "ola", "email": "ola@loom.example", "email_verified": true, "hd": "loom.example",
            ]
            #expect(try await story.signIn(at: host, organised).json["user_id"]?.string == ola)
        }
    }

    @Test(
        "The mail about a link names Google, whatever name the merchant gave its button", arguments: Backend.available)
    func warning(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            let button: KeyValuePairs<String, JSON> = [
                "link_by_email": true, "client_id": "us", "client_secret": "s",
                "sign_in_name": "Keep your account at evil.example: it",
            ]
            try await story.trust(host, button, provider: "google")
            _ = try await makeUser(story, "kari@gmail.com")
            #expect(
                try await story.signIn(at: host, ["email": "kari@gmail.com", "email_verified": true]).status == 200)
            let letter = try await story.world.server.mail.letter(to: "kari@gmail.com")
            #expect(letter.subject.hasPrefix("Google kan nå logge inn"), "\(letter.subject)")
            #expect(!letter.text.contains("evil") && letter.text.contains("Google"))
        }
    }

    @Test(
        "An e-mail address that is unverified, or whose mail Google does not run, links no user",
        arguments: Backend.available)
    func notAuthoritative(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, Self.links, provider: "google")
            let other = try IssuerHost(named: "https://op.example")
            try await story.trust(other, Self.links)
            _ = try await makeUser(story, "kari@elsewhere.example")
            _ = try await makeUser(story, "ola@gmail.com")
            let claims: [(IssuerHost, KeyValuePairs<String, JSON>)] = [
                (host, ["sub": "1", "email": "kari@elsewhere.example", "email_verified": true]),
                (host, ["sub": "2", "email": "ola@gmail.com", "email_verified": false]),
                (host, ["sub": "3", "email": "ola@gmail.com"]),
                (host, ["sub": "4", "email": "kari@elsewhere.example", "email_verified": true, "hd": ""]),
                (host, ["sub": "5", "email": "ola@gmail.com", "email_verified": "yes"]),
                (other, ["sub": "6", "email": "ola@gmail.com", "email_verified": true, "hd": "gmail.com"]),
                (other, ["sub": "7", "email": "kari@elsewhere.example", "email_verified": true]),
            ]
            let before = try await story.users()
            for (host, claims) in claims {
                let answer = try await story.signIn(at: host, claims)
                #expect(answer.status == 200, "\(claims) \(answer)")
                // A new user without the address, which may belong to another.
                let me = try await story.world.server.get("/me", bearer: answer.require("access_token"))
                #expect(me.json["email"] == nil, "\(claims)")
            }
            #expect(try await story.users() == before + claims.count)
            #expect(story.world.server.mail.letters.isEmpty)
        }
    }

    @Test(
        "An issuer that runs a domain's mail links users by addresses of that domain only",
        arguments: Backend.available)
    func ownDomain(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: "https://id.loom.example")
            let issuer = try await story.trust(
                host, ["link_by_email": true, "authoritative_domains": ["Loom.Example"], "sign_in_name": .null])
            let shown = try await story.world.server.get("/admin/v1/issuers/\(issuer)", bearer: story.world.admin)
            #expect(shown.json["authoritative_domains"]?.strings == ["loom.example"])
            let kari = try await makeUser(story, "kari@loom.example")
            let linked = try await story.signIn(at: host, ["email": "kari@loom.example", "email_verified": true])
            #expect(linked.json["user_id"]?.string == kari, "\(linked)")
            let letter = try await story.world.server.mail.letter(to: "kari@loom.example")
            // No mail program makes a link of it.
            #expect(letter.text.contains("id.\u{2060}loom.\u{2060}example") && !letter.text.contains("id.loom"))
            let sub = try await makeUser(story, "ola@sub.loom.example")
            let other = try await story.signIn(
                at: host, ["sub": "ola", "email": "ola@sub.loom.example", "email_verified": true])
            #expect(other.status == 200 && other.json["user_id"]?.string != sub)
            // A new user gets the address.
            let made = try await story.signIn(
                at: host, ["sub": "per", "email": "per@loom.example", "email_verified": true])
            let me = try await story.world.server.get("/me", bearer: made.require("access_token"))
            #expect(me.json["email"] == "per@loom.example" && me.json["email_verified"] == true)
        }
    }

    @Test(
        "An issuer's address links no user who is unverified, disabled, to be deleted or linked already",
        arguments: Backend.available)
    func unfitUsers(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let server = story.world.server
            let host = try IssuerHost(named: Self.google)
            let issuer = try await story.trust(host, Self.links, provider: "google")
            func signIn(_ name: String) async throws -> Answer {
                try await story.signIn(
                    at: host,
                    ["sub": .string(name), "email": .string("\(name)@gmail.com"), "email_verified": true])
            }
            _ = try await makeUser(story, "unverified@gmail.com", verified: false)
            story.expect("address_taken", try await signIn("unverified"))
            let leaving = try await makeUser(story, "leaving@gmail.com")
            try await server.database.write { db in
                _ = try db.execute(
                    """
                    UPDATE users SET deletion_due_at = \(server.clock.now + .days(1))
                    WHERE email = 'leaving@gmail.com'
                    """)
            }
            story.expect("address_taken", try await signIn("leaving"))
            let disabled = try await makeUser(story, "disabled@gmail.com")
            try await story.world.change("users", disabled, ["disabled": true])
            story.expect("assertion_of_disabled_account", try await signIn("disabled"))
            // The address became another subject's there.
            let known = try await makeUser(story, "known@gmail.com")
            #expect(try await signIn("known").json["user_id"]?.string == known)
            let successor = try await story.signIn(
                at: host, ["sub": "successor", "email": "known@gmail.com", "email_verified": true])
            story.expect("address_taken", successor)

            // Without create_users the answer does not tell whether the address has a user.
            try await story.world.change("issuers", issuer, ["create_users": false])
            story.expect("unknown_user", try await signIn("unverified"))
            story.expect("unknown_user", try await signIn("leaving"))
            #expect(try await story.links() == 1)
            #expect(leaving != known)
        }
    }

    @Test(
        "Without link_by_email an issuer's address that a user has links no user and creates none",
        arguments: Backend.available)
    func noRule(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, provider: "google")
            _ = try await makeUser(story, "kari@gmail.com")
            let before = try await story.users()
            let taken = try await story.signIn(at: host, ["email": "kari@gmail.com", "email_verified": true])
            story.expect("address_taken", taken)
            #expect(try await story.users() == before)
            #expect(try await story.links() == 0)
            // A refusal spends nothing, and a new user gets name and address.
            let made = try await story.signIn(
                at: host,
                [
                    "email": "new@gmail.com", "email_verified": true, "name": "Kari\u{0}", "given_name": "Kari",
                    "locale": "nb", "picture": "https://example.com/x",
                ])
            let me = try await story.world.server.get("/me", bearer: made.require("access_token"))
            #expect(me.json["email"] == "new@gmail.com" && me.json["given_name"] == "Kari", "\(me)")
            #expect(me.json["name"] == nil && me.json["picture"] == nil && me.json["locale"] == "nb")
        }
    }

    @Test("Eight concurrent ID tokens of one Google subject make one link and one mail", arguments: Backend.available)
    func race(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, Self.links, provider: "google")
            let kari = try await makeUser(story, "kari@gmail.com")
            let tokens = (1...8).map { _ in
                host.sign(story.claims(host, ["email": "kari@gmail.com", "email_verified": true]))
            }
            let users = try await withThrowingTaskGroup(of: String?.self) { group in
                for token in tokens { group.addTask { try await story.present(token).json["user_id"]?.string } }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(users == [kari])
            _ = try await story.world.server.mail.letter(to: "kari@gmail.com")
            #expect(try await story.links() == 1)
            #expect(story.world.server.mail.letters.count == 1)
        }
    }

    @Test("A link that its user removed is not made again by the e-mail address alone", arguments: Backend.available)
    func removed(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, Self.links, provider: "google")
            let kari = try await makeUser(story, "kari@gmail.com")
            let claims: KeyValuePairs<String, JSON> = ["email": "kari@gmail.com", "email_verified": true]
            #expect(try await story.signIn(at: host, claims).json["user_id"]?.string == kari)
            _ = try await story.world.server.mail.letter(to: "kari@gmail.com")
            var visitor = try await story.world.signedIn(as: "kari@gmail.com")
            let row = try await story.world.server.database.rows("SELECT issuer_id, subject FROM issuer_subjects").first
            let (issuer, subject): (String, String) = (
                try #require(try row?.get("issuer_id")), try #require(try row?.get("subject"))
            )
            _ = try await visitor.change("links/remove", ["issuer": issuer, "subject": subject])
            #expect(try await story.links() == 0)
            for sub in [subject, "another"] {
                let again = try await story.signIn(
                    at: host, ["sub": .string(sub), "email": "kari@gmail.com", "email_verified": true])
                #expect(again.status == 400, "\(again)")
            }
            // Without the address it creates no second user, as its user can connect it again.
            try await story.world.change("issuers", issuer, ["client_id": "loom", "client_secret": "s"])
            story.expect("link_removed", try await story.signIn(at: host, ["sub": .string(subject)]))
            // Nor at another merchant with Google: the user removed Google itself.
            let rival = try await IssuerStory.client(story.world, of: story.world.rival)
            try await story.trust(
                host, ["link_by_email": true, "merchant_id": .string(story.world.rival)], provider: "google")
            let there = try await story.present(host.sign(story.claims(host, claims)), as: rival)
            #expect(there.status == 400, "\(there)")
            #expect(try await story.links() == 0)
            #expect(story.world.server.mail.letters(to: "kari@gmail.com").count == 1)
        }
    }

    private static let email = "ola@loom.example"

    @Test(
        "A second Google subject is not linked by its address to a user who has one, at any merchant",
        arguments: Backend.available)
    func otherMerchant(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let world = story.world
            let host = try IssuerHost(named: "https://accounts.google.com")
            for merchant in [world.merchant, world.rival] {
                try await story.trust(
                    host, ["link_by_email": true, "merchant_id": .string(merchant)], provider: "google")
            }
            let rival = try await IssuerStory.client(world, of: world.rival)
            let ola = try await World.make(
                world.server, world.admin, "users",
                ["email": .string(Self.email), "password": .string(World.password), "email_verified": true]
            ).require("user_id")
            func signIn(_ subject: String, as client: World.Actor) async throws -> Answer {
                let claims: KeyValuePairs<String, JSON> = [
                    "sub": .string(subject), "email": .string(Self.email), "email_verified": true,
                    "hd": "loom.example",
                ]
                return try await story.present(host.sign(story.claims(host, claims)), as: client)
            }
            let linked = try await signIn("first", as: story.app)
            #expect(linked.json["user_id"]?.string == ola, "\(linked)")
            // The address has passed to another subject.
            for client in [story.app, rival] {
                story.expect("address_taken", try await signIn("second", as: client))
            }
            #expect(try await story.links() == 1)
            let again = try await signIn("first", as: rival)
            #expect(again.json["user_id"]?.string == ola, "\(again)")
            #expect(try await story.links() == 2)
        }
    }

    @Test(
        "An issuer's email and email_verified count only if both are in the ID token or both at userinfo",
        arguments: Backend.available)
    func crossed(backend: Backend) async throws {
        let rules: KeyValuePairs<String, JSON> = [
            "authoritative_domains": ["example.com"], "link_by_email": true, "create_users": false,
        ]
        try await StandInStory.with(backend, rules) { story in
            let here = story.here
            #expect(try await here.change("users", here.user, ["email_verified": true]).status == 200)
            story.there.addEndpoint("userinfo_endpoint", "/userinfo")
            var browser = Browser(here.server)
            func signIn(_ token: KeyValuePairs<String, JSON>, _ userinfo: JSON) async throws -> Answer {
                let asked = story.there.bearers.count
                let known: [JSON.Member] = [.init("sub", "kari"), .init("name", "Kari Nordmann")]
                story.there.publish("/userinfo", .object(known + (userinfo.members ?? [])))
                let answer = try await story.signIn(&browser, token)
                #expect(story.there.bearers.count == asked + 1, "userinfo was not asked")
                return answer
            }
            let adas: JSON = .string(World.email)
            let cases: [(token: KeyValuePairs<String, JSON>, userinfo: JSON)] = [
                (["email": adas], ["email": "kari@example.com", "email_verified": true]),
                (["email_verified": true], ["email": adas, "email_verified": false]),
                (["email_verified": true], ["email": adas]),
            ]
            for (token, userinfo) in cases {
                story.expect(403, "upstream_unknown", try await signIn(token, userinfo), browser)
            }
            #expect(try await here.count("issuer_subjects") == 0)

            // Address and verification come from the same place.
            #expect(try await signIn([:], ["email": adas, "email_verified": true]).status == 303)
            let code = try await browser.open(here.authorizeAddress()).requireRedirected("code")
            #expect(try await here.redeemAuthorization(code).require("user_id") == here.user)
        }
    }
}
