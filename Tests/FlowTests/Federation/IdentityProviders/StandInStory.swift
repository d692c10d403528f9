import JSON
import Storage
import TestSupport
import Testing
import Values

/// A Spindle whose users come from an identity provider that does whatever a test wants.
struct StandInStory: Sendable {
    let here: World
    let there: IdentityProviderStandIn
    let issuer: String

    static func with(
        _ backend: Backend, _ members: KeyValuePairs<String, JSON> = [:],
        document: KeyValuePairs<String, JSON> = [:], settings: [String: String] = [:],
        _ story: (StandInStory) async throws -> Void
    ) async throws {
        let there = try IdentityProviderStandIn(document)
        try await World.with(backend, settings: IdentityProviderStory.settings.merging(settings) { $1 }) { here in
            let usual: [JSON.Member] = [
                .init("issuer", .string(there.issuer)), .init("sign_in_name", "The Mill"),
                .init("client_secret", "a secret & more"),
            ]
            let issuer = try await here.issuer(
                discoveredAt: there.origin + "/discovery",
                usual.changed(members).filter { $0.value != .null })
            try await story(StandInStory(here: here, there: there, issuer: issuer))
        }
        there.stop()
    }

    /// A browser on its way there.
    struct Departure {
        let state: String
        let nonce: String
        let location: String
    }

    var callback: String { "/login/with/\(issuer)/callback" }

    func leave(
        _ browser: inout Browser, _ changes: KeyValuePairs<String, String> = [:]
    ) async throws -> Departure {
        let page = try await browser.open(here.authorizeAddress(changes))
        return try departure(try await browser.follow(try page.requireLink(to: "/login/with/\(issuer)?")))
    }

    func departure(_ answer: Answer) throws -> Departure {
        Departure(
            state: try answer.requireRedirected("state"), nonce: answer.redirected("nonce") ?? "",
            location: try #require(answer.header("location")))
    }

    /// The claims of an ID token for `departure`, with `changes` over them; one changed to null is left out.
    func claims(_ departure: Departure, _ changes: KeyValuePairs<String, JSON> = [:]) -> JSON {
        let now = here.server.clock.now.seconds
        let good: [JSON.Member] = [
            .init("iss", .string(there.issuer)), .init("sub", "kari"), .init("aud", "spindle-here"),
            .init("iat", .integer(now)), .init("exp", .integer(now + 300)), .init("nonce", .string(departure.nonce)),
            .init("auth_time", .integer(now)),
        ]
        return .object(good.changed(changes).filter { $0.value != .null })
    }

    /// Makes every code redeem to an ID token with `claims`.
    func grant(_ claims: JSON, accessToken: String = "at", type: String = "JWT") {
        there.publish(
            "/token",
            [
                "access_token": .string(accessToken), "token_type": "Bearer",
                "id_token": .string(there.sign(claims, type: type)),
            ])
    }

    /// Comes back with a code.
    func comeBack(
        _ departure: Departure, in browser: inout Browser, _ more: String = ""
    ) async throws -> Answer {
        try await browser.open("\(callback)?code=a-code&state=\(departure.state)\(more)")
    }

    /// Signs in there and comes back, with `changes` over the claims of the ID token.
    func signIn(
        _ browser: inout Browser, _ changes: KeyValuePairs<String, JSON> = [:]
    ) async throws -> Answer {
        let departure = try await leave(&browser)
        grant(claims(departure, changes))
        return try await comeBack(departure, in: &browser)
    }

    /// Expects a page without a sign-in, and `reason` in the log.
    func expect(
        _ status: Int, _ reason: String, _ answer: Answer, _ browser: Browser,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == status && answer.isPage, "\(answer)", sourceLocation: sourceLocation)
        #expect(browser.session == nil, sourceLocation: sourceLocation)
        let line = here.server.log.lines.last { $0.contains("reason=") && !$0.contains(" delivery=") } ?? ""
        #expect(line.contains("reason=\(reason)"), "\(line)", sourceLocation: sourceLocation)
    }
}

extension World {
    /// Registers Google, with a button, for the apps of `merchant`.
    func google(of merchant: String) async throws -> String {
        let made = try await Self.make(
            server, admin, "issuers",
            [
                "merchant_id": .string(merchant), "provider": "google", "audiences": ["loom"], "client_id": "loom",
                "client_secret": "s",
            ])
        return try made.require("id")
    }

    /// Links the user to `subject` of `issuer`; as a merchant's app does (`attach_jwt`), if it is confined.
    func link(_ issuer: String, _ subject: String, isConfined: Bool = false) async throws {
        let id = try #require(Int64(user))
        try await server.database.write { db in
            _ = try db.execute(
                """
                INSERT INTO issuer_subjects (issuer_id, subject, user_id, is_confined, created_at)
                VALUES (\(issuer), \(subject), \(id), \(isConfined), 1)
                """)
        }
    }
}
