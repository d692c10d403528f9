import JSON
import TestSupport
import Testing

@Suite("Requests that name their user, or how the user must have authenticated")
struct RequestedSubjectTests {
    private static let password = "urn:spindle:password"
    private static let mail = "urn:spindle:mail"

    private func claims(_ member: String, essential: Bool = true, _ values: String...) -> String {
        let values = JSON.array(values.map { .string($0) }).text
        return "{\"id_token\":{\"\(member)\":{\"essential\":\(essential),\"values\":\(values)}}}"
    }

    @Test(
        "An id_token_hint of another user leads to the sign-in page, or with prompt=none to login_required",
        arguments: Backend.available)
    func hint(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("bob@example.com")
            var party = try await ConformanceParty(world, type: "code")
            let token = try #require(try await party.flow().tokens).require("id_token")
            var bob = Browser(world.server)
            try await bob.signIn(as: "bob@example.com")
            let silent = try await bob.open(party.address(["prompt": "none", "id_token_hint": token]))
            #expect(silent.redirected("error") == "login_required")
            let page = try await bob.open(party.address(["id_token_hint": token]))
            #expect(page.formAction == "/login")
            #expect(!page.body.contains("value=\"bob@example.com\""))
            let ada = try await bob.submit(page, ["email": World.email, "password": World.password])
            #expect(try await bob.open(try #require(ada.header("location"))).redirected("code") != nil)
            // An old hint still names its user; it proves nothing.
            world.server.clock.advance(by: .seconds(86_400))
            let old = try await world.server.get(party.address(["prompt": "none", "id_token_hint": token]))
            #expect(old.redirected("error") == "login_required")
        }
    }

    @Test(
        "A request whose id_token_hint names one user gets login_required when another user signs in",
        arguments: Backend.available)
    func taken(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("bob@example.com")
            var party = try await ConformanceParty(world, type: "code")
            let token = try #require(try await party.flow().tokens).require("id_token")
            var browser = Browser(world.server)
            let page = try await browser.open(party.address(["id_token_hint": token]))
            let id = try #require(page.fields["continue"])
            let login = try await browser.open("/oauth/authorize?continue=\(id)&prompt=select_account")
            let signedIn = try await browser.submit(
                login, ["email": "bob@example.com", "password": World.password])
            let answer = try await browser.open(try #require(signedIn.header("location")))
            #expect(answer.redirected("code") == nil && answer.redirected("error") == "login_required", "\(answer)")
            #expect(answer.redirected("error_description")?.contains("Another user signed in") == true)
        }
    }

    @Test(
        "An authorization request whose id_token_hint is no ID token of this server gets invalid_request",
        arguments: Backend.available)
    func badHint(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: "code")
            let token = try #require(try await party.flow().tokens).require("id_token")
            let payload = token.split(separator: ".")[1]
            for hint in ["nonsense", "eyJhbGciOiJub25lIn0.\(payload).", String(token.dropLast(6)) + "AAAAAA"] {
                let answer = try await party.browser.open(party.address(["id_token_hint": hint]))
                #expect(answer.redirected("error") == "invalid_request")
            }
        }
    }

    @Test(
        "A request whose claims name one sub is answered for that user, or else with login_required",
        arguments: Backend.available)
    func subject(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: "code")
            try await party.browser.signIn()
            func error(_ subject: String) async throws -> String? {
                let claims = "{\"id_token\":{\"sub\":{\"value\":\"\(subject)\"}}}"
                return try await party.browser.open(party.address(["prompt": "none", "claims": claims]))
                    .redirected("error")
            }
            #expect(try await error(world.user) == nil)
            #expect(try await error("4711") == "login_required")
        }
    }

    @Test(
        "An essential acr claim must be reached by the sign-in; a voluntary one need not be",
        arguments: Backend.available)
    func context(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: "code")
            try await party.browser.signIn()
            let cases: [(String, String?)] = [
                (claims("acr", Self.password), nil), (claims("acr", Self.mail, Self.password), nil),
                (claims("acr", Self.mail), "login_required"),
                (claims("acr", "urn:of:another"), "unmet_authentication_requirements"),
                (claims("acr", essential: false, "urn:of:another"), nil),
            ]
            for (claims, error) in cases {
                let answer = try await party.browser.open(party.address(["prompt": "none", "claims": claims]))
                #expect(answer.redirected("error") == error, "\(claims)")
            }
            #expect(try await party.browser.open(party.address(["claims": claims("acr", Self.mail)])).status == 200)
            for broken in ["{", "[]", "{\"id_token\":[]}", "{\"id_token\":{\"sub\":1}}"] {
                let answer = try await party.browser.open(party.address(["claims": broken]))
                #expect(answer.redirected("error") == "invalid_request", "\(broken)")
            }
        }
    }

    @Test(
        "A sign-in that misses the essential acr returns unmet_authentication_requirements to the client",
        arguments: Backend.available)
    func unmetContext(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: "code")
            let address = party.address(["claims": claims("acr", Self.mail)])
            let signedIn = try await party.browser.submit(
                try await party.browser.open(address), ["email": World.email, "password": World.password])
            let answer = try await party.browser.open(try #require(signedIn.header("location")))
            #expect(answer.redirected("error") == "unmet_authentication_requirements")
            #expect(try await party.browser.open(address).formAction == "/login", "it may try again")
        }
    }

    @Test(
        "A client's default_max_age, even 0, asks for one new sign-in where a request has no max_age",
        arguments: Backend.available)
    func defaultMaxAge(backend: Backend) async throws {
        try await World.with(backend) { world in
            for age: Int64 in [0, 30, 3600] {
                var party = try await ConformanceParty(world, type: "code", ["default_max_age": .integer(age)])
                let first = try await party.flow()
                world.server.clock.advance(by: .seconds(61))
                let page = try await party.browser.open(party.address())
                #expect((page.formAction == "/login") == (age < 61), "\(age)")
                let second = try await party.check(try await party.finish(page))
                #expect((first.ids.first?["auth_time"] == second.ids.first?["auth_time"]) == (age >= 61))
                #expect(try await party.browser.open(party.address(["max_age": "100000"])).redirected("code") != nil)
            }
        }
    }
}
