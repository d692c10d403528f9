import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("What an app got with an issuer's ID token ends with the link, or with the issuer") struct IssuerEndTests {
    private static let email = "kari@gmail.com"

    /// What a thief who signs in at Google as Kari gets here, with and without a browser.
    private struct Thief {
        let story: IssuerStory
        let tokens: [Answer]
        var webview: Browser

        init(_ story: IssuerStory, at host: IssuerHost) async throws {
            let world = story.world
            let claims: KeyValuePairs<String, JSON> = ["email": .string(IssuerEndTests.email), "email_verified": true]
            let phone = try await story.signIn(at: host, claims)
            let exchanged = try await story.exchange(host.sign(story.claims(host, claims)))
            let backend = try await world.redeem(try await world.code(of: phone), as: world.backend)
            let code = try await world.exchange(
                try phone.require("access_token"), for: world.backend, type: "session",
                redirectURI: world.backend.redirectURI)
            webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try code.require("code"))")
            let inWebview = try await world.redeemAuthorization(
                try await webview.open(world.authorizeAddress()).requireRedirected("code"))
            self.story = story
            tokens = [phone, exchanged, backend, inWebview]
        }

        /// What still works, by its place in `tokens`, and "webview".
        mutating func left() async throws -> [String] {
            let world = story.world
            var left: [String] = []
            for (name, answer) in zip(["phone", "exchanged", "backend", "app in the webview"], tokens) {
                if try await world.isLive(try answer.require("access_token")) { left.append(name) }
            }
            for answer in tokens.prefix(2) {
                let refreshed = try await world.refresh(try answer.require("refresh_token"), as: story.app)
                // A repeated refresh gets the same successor within its window.
                if refreshed.status == 200 { left.append("refresh") }
            }
            if try await webview.open(world.authorizeAddress()).redirected("code") != nil { left.append("webview") }
            return left
        }
    }

    private static let all = [
        "phone", "exchanged", "backend", "app in the webview", "refresh", "refresh", "webview",
    ]

    private func kari(_ story: IssuerStory, _ host: IssuerHost) async throws {
        try await story.trust(host, ["link_by_email": true], provider: "google")
        let made = try await World.make(
            story.world.server, story.world.admin, "users",
            [
                "email": .string(Self.email), "password": .string(World.password), "email_verified": true,
            ])
        try await story.world.introduce(try made.require("user_id"))
    }

    @Test(
        "A user who removes a provider's link ends the tokens and web views that its ID tokens led to",
        arguments: Backend.available)
    func link(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: "https://accounts.google.com")
            try await kari(story, host)
            var thief = try await Thief(story, at: host)
            var owner = Browser(story.world.server)
            try await owner.signIn(as: Self.email)
            let own = try await story.world.redeemAuthorization(
                try await owner.open(story.world.authorizeAddress()).requireRedirected("code"))
            let issuer = try await issuerID(story)
            let removed = try await owner.submit(
                try await owner.open("/account"), ["issuer": issuer, "subject": "kari"], to: "/account/links/remove")
            #expect(removed.header("location") == "/account?done=link")
            #expect(try await thief.left() == [])
            #expect(try await owner.isSignedIn())
            #expect(try await story.world.isLive(try own.require("access_token")), "it came from a password")
        }
    }

    @Test(
        "Tokens from an issuer's ID token do not work while it is disabled, and end when it is deleted",
        arguments: Backend.available)
    func issuer(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: "https://accounts.google.com")
            try await kari(story, host)
            let world = story.world
            var thief = try await Thief(story, at: host)
            let issuer = try await issuerID(story)
            // Codes that were bought before.
            let exchange = try await world.code(of: thief.tokens[0])
            let authorization = try await thief.webview.open(world.authorizeAddress()).requireRedirected("code")
            try await world.change("issuers", issuer, ["disabled": true])
            #expect(try await thief.left() == [])
            #expect(world.server.log.says("issuer_disabled"))
            #expect(try await world.redeem(exchange, as: world.backend).error == "invalid_grant")
            #expect(try await world.redeemAuthorization(authorization).error == "invalid_grant")
            try await world.change("issuers", issuer, ["disabled": false])
            #expect(try await thief.left() == Self.all)
            let path = "/admin/v1/issuers/\(issuer)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            #expect(try await thief.left() == [])
            let live = try await world.server.database.rows(
                "SELECT id FROM token_families WHERE issuer_id = \(issuer) AND ended_at IS NULL")
            #expect(live.isEmpty, "they ended, and rest no longer")
        }
    }

    private func issuerID(_ story: IssuerStory) async throws -> String {
        try #require(
            try await story.world.server.database.rows("SELECT id FROM issuers").first?.get("id", as: String.self))
    }
}
