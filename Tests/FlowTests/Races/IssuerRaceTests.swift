import JSON
import Storage
import TestSupport
import Testing

@Suite("A change of a trusted issuer during a request counts")
struct IssuerRaceTests {
    @Test(
        "An assertion creates no user when its issuer loses the right to create users during the request",
        arguments: Backend.available)
    func assertion(backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            let issuer = try await story.trust(host)
            let changes: [(JSON?, String)] = [
                (["create_users": false], "unknown_user"), (["audiences": ["another"]], "assertion_audience"),
                (["disabled": true], "assertion_of_disabled_issuer"), (nil, "unknown_issuer"),
            ]
            for (change, reason) in changes {
                story.world.server.interruptions.interrupt { try await story.change(issuer, change) }
                let answer = try await story.signIn(at: host)
                #expect(story.world.server.interruptions.wasInterrupted)
                if change == nil {
                    #expect(answer.status == 400, "\(answer)")
                } else {
                    story.expect(reason, answer)
                    try await story.change(
                        issuer,
                        [
                            "create_users": true, "disabled": false,
                            "audiences": [.string(IssuerStory.audience)],
                        ])
                }
            }
            #expect(try await story.users() == 1)
            #expect(try await story.links() == 0)
        }
    }

    @Test(
        "A verified e-mail address links no user when its issuer loses link_by_email during the request",
        arguments: Backend.available)
    func link(backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: "https://accounts.google.com")
            let issuer = try await story.trust(host, ["link_by_email": true], provider: "google")
            let user = try await story.world.person("kari@gmail.com")
            try await story.world.change("users", user, ["email_verified": true])
            let claims: KeyValuePairs<String, JSON> = ["email": "kari@gmail.com", "email_verified": true]
            story.world.server.interruptions.interrupt { try await story.change(issuer, ["link_by_email": false]) }
            story.expect("address_taken", try await story.signIn(at: host, claims))
            #expect(story.world.server.interruptions.wasInterrupted)
            #expect(try await story.links() == 0)
            try await story.change(issuer, ["link_by_email": true])
            #expect(try await story.signIn(at: host, claims).json["user_id"] == .string(user))
        }
    }

    @Test(
        "A token exchange is refused when the client loses the grant type during the request",
        arguments: Backend.available)
    func exchange(backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let token = host.sign(story.claims(host))
            story.world.server.interruptions.interrupt {
                try await story.world.change("clients", story.app.id, ["grant_types": ["refresh_token"]])
            }
            try await expect(400, "unauthorized_client", try await story.exchange(token))
            #expect(story.world.server.interruptions.wasInterrupted)
            #expect(try await story.users() == 1)
        }
    }

    @Test(
        "A client that signs assertions and is disabled during its token request gets no token",
        arguments: Backend.available, [1, 2])
    func signing(backend: Backend, write: Int) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient()
            // Its key may have to be fetched; then its assertion is remembered (1), and then comes the token (2).
            world.server.interruptions.interrupt(beforeWrite: write) {
                try await world.change("clients", client.id, ["disabled": true])
            }
            try await expect(401, "invalid_client", try await client.ask())
            #expect(world.server.interruptions.wasInterrupted)
            let tokens = try await world.count("access_tokens WHERE client_id = '\(client.id)'")
            #expect(tokens == 0)
        }
    }

    @Test(
        "A provider's token is refused when the provider is disabled during the sign-in, sign-up or attaching",
        arguments: Backend.available)
    func provider(backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            let world = story.world
            story.facebook("token", "alice")
            let client = try await world.clientToken(story.phone)
            let ada = try await world.signIn(with: story.phone)
            let before = try await story.counts()
            let deeds: [@Sendable () async throws -> Answer] = [
                {
                    try await world.api(
                        "signup_jwt", client, ["jwt": story.sign(story.claims(.registration, "facebook", "token"))])
                },
                { try await story.attach(story.sign(story.claims(.attach, "facebook", "token")), to: ada) },
            ]
            for deed in deeds {
                world.server.interruptions.interrupt { try await Self.disable(world, true) }
                let answer = try await deed()
                #expect(world.server.interruptions.wasInterrupted)
                #expect((400...403).contains(answer.status), "\(answer)")
                #expect(try await story.counts() == before)
                try await Self.disable(world, false)
            }
            #expect(try await story.register("facebook", "token").status == 200)
            world.server.interruptions.interrupt { try await Self.disable(world, true) }
            let signedIn = try await story.logIn("facebook", "token")
            #expect(world.server.interruptions.wasInterrupted)
            #expect(signedIn.status == 400, "\(signedIn)")
        }
    }

    @Test(
        "A provider's account is not attached to a user whose tokens end during the request",
        arguments: Backend.available)
    func attach(backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("token", "alice")
            let ada = try await story.world.signIn(with: story.phone)
            let before = try await story.counts()
            story.world.server.interruptions.interrupt {
                try await story.world.change("users", story.world.user, ["password": "another quiet loom"])
            }
            let answer = try await story.attach(story.sign(story.claims(.attach, "facebook", "token")), to: ada)
            #expect(story.world.server.interruptions.wasInterrupted)
            #expect(answer.status == 401, "\(answer)")
            #expect(try await story.counts() == before)
        }
    }

    @Test(
        "A user returning from an issuer gets no session when the issuer is restricted during the return",
        arguments: Backend.available)
    func upstream(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            for change: JSON in [["create_users": false], ["disabled": true], ["algorithms": ["ES384"]]] {
                var browser = Browser(story.here.server)
                let departure = try await story.leave(&browser)
                story.grant(story.claims(departure))
                // The request is spent by the first write; then the issuer is asked, and then comes the session.
                story.here.server.interruptions.interrupt(beforeWrite: 2) {
                    try await story.here.change("issuers", story.issuer, change)
                }
                let back = try await story.comeBack(departure, in: &browser)
                #expect(story.here.server.interruptions.wasInterrupted)
                #expect(back.status == 403 && browser.session == nil, "\(change.text): \(back)")
                #expect(try await story.here.count("users") == 1)
                try await story.here.change(
                    "issuers", story.issuer, ["create_users": true, "disabled": false, "algorithms": ["ES256"]])
            }
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
        }
    }

    @Test(
        "An issuer's account is not linked to a user who is signed out during the return from the issuer",
        arguments: Backend.available)
    func connect(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let code = try await story.here.authorize(in: &browser).requireRedirected("code")
            #expect(try await story.here.redeemAuthorization(code).status == 200)
            let page = try await browser.open("/account")
            let departure = try story.departure(
                try await browser.submit(page, ["issuer": story.issuer], to: "/account/links/connect"))
            story.grant(story.claims(departure))
            story.here.server.interruptions.interrupt(beforeWrite: 2) {
                try await story.here.change("users", story.here.user, ["password": "another quiet loom"])
            }
            let back = try await story.comeBack(departure, in: &browser)
            #expect(story.here.server.interruptions.wasInterrupted)
            #expect(back.status == 410, "\(back)")
            #expect(try await story.here.count("issuer_subjects") == 0)
        }
    }

    private static func disable(_ world: World, _ isDisabled: Bool) async throws {
        try await world.server.database.write { db in
            _ = try db.execute("UPDATE issuers SET disabled_at = \(isDisabled ? Int64(1) : nil)")
        }
    }
}

extension IssuerStory {
    /// Changes the issuer, or deletes it.
    fileprivate func change(_ issuer: String, _ json: JSON?) async throws {
        let path = "/admin/v1/issuers/\(issuer)"
        let answer =
            if let json { try await world.server.send("PATCH", path, json: json, bearer: world.admin) } else {
                try await world.server.send("DELETE", path, bearer: world.admin)
            }
        #expect(answer.status < 300, "\(answer)")
    }
}
