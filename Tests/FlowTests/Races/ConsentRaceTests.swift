import JSON
import Storage
import TestSupport
import Testing

@Suite("A revocation during a request ends what the request gives")
struct ConsentRaceTests {
    @Test("A consent revoked during an authorization request yields no code and no token", arguments: Backend.available)
    func consent(backend: Backend) async throws {
        try await World.with(backend, settings: ["unsafe_front_channel_tokens": "true"]) { world in
            for type in ["code", "token", "code token"] {
                let made = try await world.register([
                    "response_types": [.string(type)], "scope": "openid profile",
                    "grant_types": ["authorization_code", "implicit"],
                ])
                var browser = Browser(world.server)
                let first = try await world.consented(
                    in: &browser, ["response_type": type, "scope": "profile"], for: made.actor)
                #expect(first.status == 302, "\(first)")
                world.server.interruptions.interrupt {
                    try await world.server.database.write { _ = try $0.execute("DELETE FROM consents") }
                }
                let again = try await browser.open(
                    world.authorizeAddress(["response_type": type, "scope": "profile"], for: made.actor))
                #expect(world.server.interruptions.wasInterrupted, "\(type)")
                let location = again.header("location") ?? ""
                #expect(!location.contains("code=") && !location.contains("access_token="), "\(location)")
                #expect(!location.hasPrefix(World.returnURI), "\(location)")
            }
        }
    }

    @Test(
        "A session code bought with a token that ends during the exchange starts no session",
        arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(scope: "profile offline_access").require("access_token")
            world.endFamiliesBeforeTheNextWrite()
            let bought = try await world.exchange(
                token, for: world.app, type: "session", redirectURI: World.webview)
            #expect(world.server.interruptions.wasInterrupted)
            guard let code = bought.json["code"]?.string else { return }
            var webview = Browser(world.server)
            #expect(try await webview.open("/auth/session/\(code)").status == 410)
            #expect(webview.session == nil)
        }
    }

    @Test("A code bought with a token that ends during the code's redemption is refused", arguments: Backend.available)
    func source(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn(scope: "profile offline_access"))
            world.endFamiliesBeforeTheNextWrite()
            try await expect(400, "invalid_grant", try await world.redeem(code, as: world.backend))
            #expect(world.server.interruptions.wasInterrupted)
        }
    }

    @Test("A code whose browser session ends during the redemption is refused", arguments: Backend.available)
    func code(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            world.server.interruptions.interrupt {
                try await world.server.database.write { _ = try $0.execute("UPDATE sessions SET ended_at = 1") }
            }
            try await expect(400, "invalid_grant", try await world.redeemAuthorization(code))
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await world.count("token_families") == 0)
        }
    }

    @Test(
        "An authorization code stored while its app is revoked or signed out is refused",
        arguments: Backend.available)
    func beside(backend: Backend) async throws {
        try await World.with(backend) { world in
            let third = try await world.confidential(["first_party": false, "scope": "profile"])
            var browser = Browser(world.server)
            try await browser.signIn()
            func code(_ client: World.Actor) async throws -> String {
                let answer = try await browser.open(world.authorizeAddress(["scope": "profile"], for: client))
                guard answer.isPage else { return try answer.requireRedirected("code") }
                let back =
                    client.id == third.id
                    ? try await world.allow(answer, in: &browser, ticking: answer.boxes)
                    : try await browser.submit(answer, ["decision": "continue"])
                guard back.redirected("code") == nil else { return try back.requireRedirected("code") }
                return try await browser.open(back.header("location") ?? "").requireRedirected("code")
            }
            for client in [world.app, third] {
                for isLeft in [false, true] {
                    #expect(try await world.redeemAuthorization(try await code(client), as: client).status == 200)
                    let late = try await code(client)
                    if isLeft {
                        _ = try await browser.submit(
                            try await browser.open("/logout?logout_scope=client&client_id=\(client.id)"))
                    } else {
                        let account = try await browser.open("/account")
                        _ = try await browser.submit(account, ["client": client.id], to: "/account/apps/revoke")
                    }
                    // The transaction that ended it did not see the code, nor its time.
                    let ends = try await world.server.database.write { db in
                        try db.execute("DELETE FROM exchange_code_ends")
                    }
                    #expect(ends > 0)
                    try await expect(400, "invalid_grant", try await world.redeemAuthorization(late, as: client))
                }
            }
        }
    }

    @Test("An authorization code stored while its consent is narrowed is refused", arguments: Backend.available)
    func narrowed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let third = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "openid profile"], for: third)
            let page = try await browser.open(address)
            #expect(try await world.allow(page, in: &browser, ticking: page.boxes).redirected("code") != nil)
            for (left, error) in [("openid profile", nil), ("openid", "invalid_grant")] as [(String, String?)] {
                let late = try await browser.open(address).requireRedirected("code")
                // The transaction that took the rest did not see the code, nor its time.
                try await world.server.database.write { db in
                    try db.execute("UPDATE consents SET scope = \(left)")
                    try db.execute("DELETE FROM exchange_code_ends")
                }
                let answer = try await world.redeemAuthorization(late, as: third)
                #expect(answer.status == (error == nil ? 200 : 400) && answer.error == error, "\(left): \(answer)")
            }
        }
    }

    @Test("A code whose app the user revokes during its redemption gives no tokens", arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(scope: "profile offline_access")
            let visitor = try await world.signedIn()
            let bought = try await world.code(of: phone)
            let authorized = try await world.authorizationCode()
            for isBought in [true, false] {
                world.server.interruptions.interrupt {
                    // The redemption began a moment before the user pressed the button.
                    world.server.clock.advance(by: .milliseconds(5))
                    for client in isBought ? [world.backend.id] : [world.app.id] {
                        var visitor = visitor
                        _ = try await visitor.change("apps/revoke", ["client": client])
                    }
                }
                let answer =
                    isBought
                    ? try await world.redeem(bought, as: world.backend)
                    : try await world.redeemAuthorization(authorized)
                try await expect(400, "invalid_grant", answer)
                #expect(world.server.interruptions.wasInterrupted)
            }
        }
    }
}

extension World {
    fileprivate func endFamiliesBeforeTheNextWrite() {
        server.interruptions.interrupt {
            try await server.database.write { _ = try $0.execute("UPDATE token_families SET ended_at = 1") }
        }
    }
}
