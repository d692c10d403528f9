import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("Which user an issuer's verified e-mail address leads to") struct AddressLinkTests {
    private static let google = "https://accounts.google.com"
    private static let links: KeyValuePairs<String, JSON> = ["link_by_email": true]

    /// A person of ours with `email`, who showed that they read it.
    private func person(_ story: IssuerStory, _ email: String, verified: Bool = true) async throws -> String {
        try await World.make(
            story.world.server, story.world.admin, "users",
            [
                "email": .string(email), "password": .string(World.password), "email_verified": .bool(verified),
                "locale": "nb-NO",
            ]
        ).require("user_id")
    }

    @Test(
        "Google's word for a mailbox it runs links it for good to its user, who is told", arguments: Backend.available)
    func gmail(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, Self.links, provider: "google")
            let kari = try await person(story, "kari@gmail.com")
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

            // An organisation whose mail Google has.
            let ola = try await person(story, "ola@loom.example")
            let organised: KeyValuePairs<String, JSON> = [
                "sub": "ola", "email": "ola@loom.example", "email_verified": true, "hd": "loom.example",
            ]
            #expect(try await story.signIn(at: host, organised).json["user_id"]?.string == ola)
        }
    }

    @Test("the mail about a link calls Google so, whatever a merchant has its button say", arguments: Backend.available)
    func warning(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            let button: KeyValuePairs<String, JSON> = [
                "link_by_email": true, "client_id": "us", "client_secret": "s",
                "sign_in_name": "Keep your account at evil.example: it",
            ]
            try await story.trust(host, button, provider: "google")
            _ = try await person(story, "kari@gmail.com")
            #expect(
                try await story.signIn(at: host, ["email": "kari@gmail.com", "email_verified": true]).status == 200)
            let letter = try await story.world.server.mail.letter(to: "kari@gmail.com")
            #expect(letter.subject.hasPrefix("Google kan nå logge inn"), "\(letter.subject)")
            #expect(!letter.text.contains("evil") && letter.text.contains("Google"))
        }
    }

    @Test(
        "an address that Google does not run is not linked, and its user is not touched", arguments: Backend.available)
    func notAuthoritative(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, Self.links, provider: "google")
            let other = try IssuerHost(named: "https://op.example")
            try await story.trust(other, Self.links)
            _ = try await person(story, "kari@elsewhere.example")
            _ = try await person(story, "ola@gmail.com")
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
                // Another user, without the address: a user with a stranger's address would be waiting for its owner.
                let me = try await story.world.server.get("/me", bearer: answer.require("access_token"))
                #expect(me.json["email"] == nil, "\(claims)")
            }
            #expect(try await story.users() == before + claims.count)
            #expect(story.world.server.mail.letters.isEmpty)
        }
    }

    @Test(
        "an issuer set to run a domain's mail leads to that domain's addresses only",
        arguments: Backend.available)
    func ownDomain(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: "https://id.loom.example")
            let issuer = try await story.trust(
                host, ["link_by_email": true, "authoritative_domains": ["Loom.Example"], "sign_in_name": .null])
            let shown = try await story.world.server.get("/admin/v1/issuers/\(issuer)", bearer: story.world.admin)
            #expect(shown.json["authoritative_domains"]?.strings == ["loom.example"])
            let kari = try await person(story, "kari@loom.example")
            let linked = try await story.signIn(at: host, ["email": "kari@loom.example", "email_verified": true])
            #expect(linked.json["user_id"]?.string == kari, "\(linked)")
            let letter = try await story.world.server.mail.letter(to: "kari@loom.example")
            // No mail program makes a link of it.
            #expect(letter.text.contains("id.\u{2060}loom.\u{2060}example") && !letter.text.contains("id.loom"))
            let sub = try await person(story, "ola@sub.loom.example")
            let other = try await story.signIn(
                at: host, ["sub": "ola", "email": "ola@sub.loom.example", "email_verified": true])
            #expect(other.status == 200 && other.json["user_id"]?.string != sub)
            // A newcomer has the address.
            let made = try await story.signIn(
                at: host, ["sub": "per", "email": "per@loom.example", "email_verified": true])
            let me = try await story.world.server.get("/me", bearer: made.require("access_token"))
            #expect(me.json["email"] == "per@loom.example" && me.json["email_verified"] == true)
        }
    }

    @Test(
        "a user who has not verified the address, or whose deletion is pending, is not linked",
        arguments: Backend.available)
    func unfitAccounts(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let server = story.world.server
            let host = try IssuerHost(named: Self.google)
            let issuer = try await story.trust(host, Self.links, provider: "google")
            func signIn(_ name: String) async throws -> Answer {
                try await story.signIn(
                    at: host,
                    ["sub": .string(name), "email": .string("\(name)@gmail.com"), "email_verified": true])
            }
            _ = try await person(story, "unverified@gmail.com", verified: false)
            story.expect("address_taken", try await signIn("unverified"))
            let leaving = try await person(story, "leaving@gmail.com")
            try await server.database.write { db in
                _ = try db.execute(
                    """
                    UPDATE users SET deletion_due_at = \(server.clock.now + .days(1))
                    WHERE email = 'leaving@gmail.com'
                    """)
            }
            story.expect("address_taken", try await signIn("leaving"))
            let disabled = try await person(story, "disabled@gmail.com")
            try await story.world.change("users", disabled, ["disabled": true])
            story.expect("assertion_of_disabled_account", try await signIn("disabled"))
            // The address became another person's there.
            let known = try await person(story, "known@gmail.com")
            #expect(try await signIn("known").json["user_id"]?.string == known)
            let successor = try await story.signIn(
                at: host, ["sub": "successor", "email": "known@gmail.com", "email_verified": true])
            story.expect("address_taken", successor)

            // Without the rule for new users the answer does not tell whether there is one.
            try await story.world.change("issuers", issuer, ["create_users": false])
            story.expect("unknown_user", try await signIn("unverified"))
            story.expect("unknown_user", try await signIn("leaving"))
            #expect(try await story.links() == 1)
            #expect(leaving != known)
        }
    }

    @Test("without the rule an address links nothing, and stays with its user", arguments: Backend.available)
    func noRule(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, provider: "google")
            _ = try await person(story, "kari@gmail.com")
            let before = try await story.users()
            let taken = try await story.signIn(at: host, ["email": "kari@gmail.com", "email_verified": true])
            story.expect("address_taken", taken)
            #expect(try await story.users() == before)
            #expect(try await story.links() == 0)
            // A refusal spends nothing, and a newcomer has name and address.
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

    @Test("eight concurrent tokens of one subject make one link and one mail", arguments: Backend.available)
    func race(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, Self.links, provider: "google")
            let kari = try await person(story, "kari@gmail.com")
            let tokens = (1...8).map { _ in
                host.sign(story.claims(host, ["email": "kari@gmail.com", "email_verified": true]))
            }
            let people = try await withThrowingTaskGroup(of: String?.self) { group in
                for token in tokens { group.addTask { try await story.present(token).json["user_id"]?.string } }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(people == [kari])
            _ = try await story.world.server.mail.letter(to: "kari@gmail.com")
            #expect(try await story.links() == 1)
            #expect(story.world.server.mail.letters.count == 1)
        }
    }

    @Test("a link that the user removed does not come back by the address alone", arguments: Backend.available)
    func removed(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, Self.links, provider: "google")
            let kari = try await person(story, "kari@gmail.com")
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
            // Without the address it makes no second account, where its user can connect it again.
            try await story.world.change("issuers", issuer, ["client_id": "loom", "client_secret": "s"])
            story.expect("link_removed", try await story.signIn(at: host, ["sub": .string(subject)]))
            // Nor at another merchant that has Google, too: it is Google that the user removed.
            let rival = try await IssuerStory.client(story.world, of: story.world.rival)
            try await story.trust(
                host, ["link_by_email": true, "merchant_id": .string(story.world.rival)], provider: "google")
            let there = try await story.present(host.sign(story.claims(host, claims)), as: rival)
            #expect(there.status == 400, "\(there)")
            #expect(try await story.links() == 0)
            #expect(story.world.server.mail.letters(to: "kari@gmail.com").count == 1)
        }
    }
}
