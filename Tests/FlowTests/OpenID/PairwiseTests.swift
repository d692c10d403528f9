import JSON
import TestSupport
import Testing
import Values

@Suite("What a pairwise client learns of users (OpenID Connect Core §8)")
struct PairwiseTests {
    private static let origin = "https://site.example"

    private static let pairwise: KeyValuePairs<String, JSON> = [
        "subject_type": "pairwise", "web_origins": [.string(origin)],
        "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
    ]

    @Test(
        "No answer to a pairwise client contains a user's number, whatever endpoint is asked",
        arguments: Backend.available)
    func noNumber(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website(Self.pairwise)
            var browser = Browser(world.server)
            let tokens = try await site.signIn(in: &browser, scope: "openid profile")
            let token = try tokens.require("access_token")
            let name = try #require(try TakenApart(try tokens.require("id_token")).claims["sub"]?.string)
            #expect(name != world.user && tokens.json["user_id"]?.string == name)
            let refreshed = try await world.refresh(try tokens.require("refresh_token"), as: site.actor)
            let without = try await site.signIn(in: &browser, scope: "profile")
            for answer in [refreshed, without] { #expect(answer.json["user_id"]?.string == name) }

            let me = try await world.server.get("/me", bearer: token)
            #expect(me.json["sub"]?.string == name && me.json["user_id"]?.string == name)
            #expect(me.json["name"]?.string == "Ada Lovelace")
            let own = try await world.server.get("/user/\(name)", bearer: token)
            #expect(own.json == me.json)
            // Introspection tells the token's subject to other clients of the merchant too, not the user's number.
            for asker in [site.actor, world.backend] {
                let told = try await world.introspect(token, as: asker)
                #expect(told.json["sub"]?.string == name && told.json["user_id"]?.string == name)
            }
            let script = try await world.server.get(
                "/ajax/hasSession.js?client_id=\(site.actor.id)&callback=cb", cookies: browser.cookies,
                headers: ["Origin": Self.origin])
            #expect(script.body.contains("\"visitor\":{\"uid\":\"\(name)\",\"user_id\":\"\"}"))
            #expect(script.body.contains("\"id\":\"\(name)\"") && script.body.contains("\"userStatus\":\"connected\""))
            for told in [tokens, refreshed, without, me, own, script] {
                #expect(!told.body.contains(world.user) && !told.body.contains("uuid"), "\(told.body)")
            }
        }
    }

    @Test("The backchannel_logout_uri of a pairwise client must be at its sector's host", arguments: Backend.available)
    func logoutHost(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (host, type, status) in [
                ("thief.example", "pairwise", 400), ("thief.example", "public", 201), ("rp.example", "pairwise", 201),
            ] {
                let changes: KeyValuePairs<String, JSON> = [
                    "redirect_uris": ["https://rp.example/cb"], "subject_type": .string(type),
                    "backchannel_logout_uri": .string("https://\(host)/logout"),
                ]
                let answer = try await world.sendRegistration(changes, with: try await world.initialToken())
                #expect(answer.status == status, "\(host) \(type)")
                guard host == "rp.example" else { continue }
                let made = try await world.register(changes)
                let moved = made.update([
                    "redirect_uris": ["https://rp.example/cb"], "subject_type": "pairwise",
                    "backchannel_logout_uri": "https://thief.example/logout",
                ])
                #expect(try await made.send("PUT", moved).body.contains("backchannel_logout_uri"))
            }
        }
    }

    @Test("A pairwise client cannot find a user by number, nor read users by SPiD's API", arguments: Backend.available)
    func noLookup(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website(Self.pairwise)
            var browser = Browser(world.server)
            let tokens = try await site.signIn(in: &browser, scope: "openid profile")
            let token = try tokens.require("access_token")
            let own = try await world.clientToken(site.actor)
            for bearer in [token, own] {
                #expect(try await world.server.get("/user/\(world.user)", bearer: bearer).status == 403)
            }
            #expect(try await world.server.get("/user/\(try tokens.require("user_id"))", bearer: own).status == 403)
            for path in ["me", "user/\(world.user)", "user/\(world.user)/logins"] {
                let answer = try await world.server.get("/api/2/\(path)", bearer: token)
                #expect(answer.status == 403 && answer.json["data"] == .null, "\(path): \(answer)")
            }
            #expect(try await world.server.get("/api/2/logout", bearer: token).status == 200)
        }
    }

    @Test("A pairwise client can be neither SPiD-compatible nor have a callback_uri", arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website(Self.pairwise)
            func change(_ json: JSON) async throws -> Answer {
                try await world.change("clients", site.actor.id, json)
            }
            expectProblem(try await change(["spid_compatible": true]), 400, member: "subject_type")
            let callback: JSON = ["callback_uri": "https://site.example/callback"]
            expectProblem(try await change(callback), 400, member: "callback_uri")
            #expect(try await change(["subject_type": "public"]).status == 200)
            #expect(try await change(callback).status == 200)
            expectProblem(try await change(["subject_type": "pairwise"]), 400, member: "callback_uri")
        }
    }

    @Test(
        "Without a sector_identifier_uri, pairwise subjects with app or loopback redirect URIs or two hosts are refused"
    )
    func sector() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.initialToken()
            let addresses: [[JSON]] = [
                ["com.evil.app://victim.example/cb"],
                ["https://victim.example/cb", "com.evil.app://victim.example/cb"],
                ["http://localhost:8000/cb"], ["http://127.0.0.1/cb"], ["https://a.example/", "https://b.example/"],
            ]
            for list in addresses {
                let changes: KeyValuePairs<String, JSON> = [
                    "subject_type": "pairwise", "redirect_uris": .array(list), "application_type": "native",
                ]
                let answer = try await world.sendRegistration(changes, with: token)
                try await expect(400, "invalid_client_metadata", answer, "\(list)")
                #expect(answer.json["error_description"]?.string?.contains("sector_identifier_uri") == true)
            }
            let good: [JSON] = ["https://victim.example/cb", "https://Victim.example:8443/other"]
            let taken = try await world.sendRegistration(
                ["subject_type": "pairwise", "redirect_uris": .array(good)], with: token)
            #expect(taken.status == 201, "\(taken)")
        }
    }

    @Test(
        "A self-registered pairwise client cannot move to another host's sector, nor a public one become pairwise",
        arguments: Backend.available)
    func anotherSector(backend: Backend) async throws {
        try await World.with(backend) { world in
            let pairwise = try await world.register(["subject_type": "pairwise"])
            for addresses: [JSON] in [["https://shop.example/cb"], ["https://shop.example:8443/cb"]] {
                let moved = try await pairwise.send("PUT", pairwise.update(["redirect_uris": .array(addresses)]))
                try await expect(400, "invalid_redirect_uri", moved)
            }
            let same = try await pairwise.send(
                "PUT", pairwise.update(["redirect_uris": ["https://rp.example/another"]]))
            #expect(same.status == 200, "\(same)")
            let open = try await world.register()
            let closed = try await open.send("PUT", open.update(["subject_type": "pairwise"]))
            try await expect(400, "invalid_client_metadata", closed)
        }
    }

    @Test(
        "Clients of two merchants at one host get different pairwise subjects for one user",
        arguments: Backend.available)
    func merchants(backend: Backend) async throws {
        try await World.with(backend) { world in
            func name(of merchant: String) async throws -> String {
                let made = try await World.make(
                    world.server, world.admin, "clients",
                    [
                        "client_name": "x", "merchant_id": .string(merchant), "subject_type": "pairwise",
                        "redirect_uris": ["https://site.example/back"], "grant_types": ["password"],
                    ])
                let client = World.Actor(
                    id: try made.require("client_id"), secret: try made.require("client_secret"), redirectURI: "")
                return try await world.signIn(with: client).require("user_id")
            }
            let own = try await name(of: world.merchant)
            #expect(try await name(of: world.merchant) == own, "one sector of one merchant")
            #expect(try await name(of: world.rival) != own)
        }
    }

    @Test(
        "A browser session has a different sid in each sector, and a logout token has the sid of its sector",
        arguments: Backend.available)
    func sessions(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            func site(_ host: String) async throws -> Website {
                try await world.website([
                    "subject_type": "pairwise", "redirect_uris": [.string("https://\(host)/back")],
                ])
            }
            var browser = Browser(world.server)
            func session(_ site: Website) async throws -> (hint: String, sid: String) {
                let token = try await site.signIn(in: &browser).require("id_token")
                return (token, try #require(try TakenApart(token).claims["sid"]?.string))
            }
            let told = try await world.notified(at: receiver, "/told", ["subject_type": "pairwise"])
            let first = try await session(told.site)
            let sibling = try await session(try await world.website(["subject_type": "pairwise"]))
            let other = try await session(try await site("other.example"))
            let open = try await session(try await world.website())
            #expect(first.sid == sibling.sid, "one sector")
            #expect(Set([first.sid, other.sid, open.sid]).count == 3)
            // The hint shows which session is meant, so the user is not asked.
            _ = try await browser.logOut(["id_token_hint": first.hint])
            #expect(browser.session == nil)
            #expect(try await told.next()["sid"]?.string == first.sid)
        }
    }

    @Test(
        "An id_token_hint from another sector is refused, so that clients cannot compare their users by it",
        arguments: Backend.available)
    func hints(backend: Backend) async throws {
        try await World.with(backend) { world in
            func site(_ host: String, _ type: String = "pairwise", of merchant: String? = nil) async throws -> Website {
                try await world.website([
                    "subject_type": .string(type), "redirect_uris": [.string("https://\(host)/back")],
                    "merchant_id": .string(merchant ?? world.merchant),
                ])
            }
            _ = try await world.person("bob@example.com")
            let (alpha, sister) = (try await site("alpha.example"), try await site("alpha.example"))
            let (beta, foreign) = (try await site("beta.example"), try await site("alpha.example", of: world.rival))
            let open = try await site("alpha.example", "public")
            let another = try await site("beta.example", "public")
            var (ada, bob) = (Browser(world.server), Browser(world.server))
            try await ada.signIn()
            try await bob.signIn(as: "bob@example.com")
            let cases: [(Website, Website, Bool)] = [
                (alpha, beta, false), (alpha, foreign, false), (alpha, open, false), (open, alpha, false),
                (alpha, alpha, true), (alpha, sister, true), (open, another, true),
            ]
            for (number, (giver, asker, isTaken)) in cases.enumerated() {
                let hint = try await giver.signIn(in: &ada).require("id_token")
                let address = world.authorizeAddress(
                    ["scope": "openid", "prompt": "none", "id_token_hint": hint], for: asker.actor)
                let expected: [String?] = isTaken ? [nil, "login_required"] : ["invalid_request", "invalid_request"]
                let told = [try await ada.open(address), try await bob.open(address)].map { $0.redirected("error") }
                #expect(told == expected, "\(number)")
            }
        }
    }

    // MARK: Sector documents

    private static let settings = ["outbound_allow_private": "127.0.0.0/8"]
    private static let victim: JSON = "https://victim.example/cb"

    @Test(
        "A client cannot move into another client's sector by naming its sector_identifier_uri",
        arguments: Backend.available, ["pairwise", "public"])
    func moved(backend: Backend, type: String) async throws {
        let host = try KeyHost([Self.victim])
        try await World.with(backend, settings: Self.settings) { world in
            let thief = try await world.register([
                "redirect_uris": ["https://thief.example/cb"], "subject_type": .string(type),
            ])
            let token = try await world.signInToRegistered(thief.actor, ["scope": "openid"]).require("access_token")
            let before = try await subject(token, world)
            let moved = try await thief.send("PUT", thief.update(sectored(host, [Self.victim])))
            try await expect(400, "invalid_client_metadata", moved)
            #expect(try await subject(token, world) == before)
        }
    }

    @Test(
        "With a sector_identifier_uri, the backchannel_logout_uri must be at the host of a redirect URI",
        arguments: Backend.available)
    func logout(backend: Backend) async throws {
        let host = try KeyHost([Self.victim, "https://sister.example/cb"])
        try await World.with(backend, settings: Self.settings) { world in
            for (name, status) in [("thief.example", 400), ("victim.example", 201)] {
                let address = JSON.string("https://\(name)/bye")
                let members = sectored(host, [Self.victim], logout: address)
                let answer = try await world.sendRegistration(members, with: try await world.initialToken())
                #expect(answer.status == status, "\(answer)")
                #expect(answer.body.contains("backchannel_logout_uri"))
            }
            let made = try await world.register(sectored(host, [Self.victim]))
            for (name, status) in [("thief.example", 400), ("victim.example", 200)] {
                let address = JSON.string("https://\(name)/bye")
                let changed = try await made.send("PUT", made.update(["backchannel_logout_uri": address]))
                #expect(changed.status == status, "\(changed)")
            }
            let sister = sectored(host, ["https://sister.example/cb"], logout: "https://sister.example/bye")
            let within = try await made.send("PUT", made.update(sister))
            #expect(within.status == 200, "the document lists it: \(within)")
        }
    }

    @Test(
        "A sector_identifier_uri with a loopback or custom-scheme redirect URI is refused, even if it lists that URI",
        arguments: Backend.available)
    func native(backend: Backend) async throws {
        let addresses: [JSON] = ["http://127.0.0.1/cb", "com.victim.app://signed-in/cb"]
        let host = try KeyHost(.array([Self.victim] + addresses))
        try await World.with(backend, settings: Self.settings) { world in
            for address in addresses {
                let members = sectored(host, [address], application: "native")
                let answer = try await world.sendRegistration(members, with: try await world.initialToken())
                #expect(answer.status == 400, "\(address): \(answer)")
            }
            _ = try await world.register(sectored(host, [Self.victim]))
        }
    }

    /// The user's subject at the client of `token`.
    private func subject(_ token: String, _ world: World) async throws -> String {
        try #require(try await world.server.get("/me", bearer: token).json["sub"]?.string)
    }

    private func sectored(
        _ host: KeyHost, _ redirectURIs: [JSON], logout: JSON = .null, application: JSON = "web"
    ) -> KeyValuePairs<String, JSON> {
        [
            "subject_type": "pairwise", "sector_identifier_uri": .string(host.address),
            "redirect_uris": .array(redirectURIs), "backchannel_logout_uri": logout, "application_type": application,
        ]
    }
}
