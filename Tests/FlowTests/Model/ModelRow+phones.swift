import JSON
import Storage
import TestSupport
import Testing
import Values

/// Rows about the tokens of a phone.
extension ModelRow {
    static let phoneSignOut = ModelRow(
        number: 1,
        causes: [
            ModelCause("a phone signs out") { user in try await signOut(user) },
            ModelCause("a phone signs out while it rests") { user in
                var prepared = try await signOut(user)
                let (world, deed) = (user.world, prepared.deed)
                prepared.deed = {
                    try await world.change("clients", world.app.id, ["disabled": true])
                    try await deed()
                    try await world.change("clients", world.app.id, ["disabled": false])
                }
                prepared.callbacks = [.loom]
                return prepared
            },
            ModelCause("a phone signs out, and its merchant's backends with it") { user in
                let world = user.world
                try await world.change("merchants", world.merchant, ["logout_reaches_backends": true])
                return try await signOut(user, inWebViews: .inWebViews("reached"), backends: .backends("reached"))
            },
        ])

    private static func signOut(
        _ user: ModelUser, inWebViews: Member.Part = .inWebViews(), backends: Member.Part = .backends()
    ) async throws -> ModelCause.Prepared {
        let phone = try await PhoneTree(of: user)
        let others = try await Bystanders(of: user)
        let token = phone.own.held.accessToken
        return ModelCause.Prepared(
            members: phone.members(inWebViews: inWebViews, backends: backends) + others.living,
            callbacks: [.phone, .loom]
        ) {
            _ = try await user.world.server.get("/logout", bearer: token)
        }
    }

    static let familyEnd = ModelRow(
        number: 2,
        causes: [
            ModelCause("a refresh token is revoked") { user in
                try await end(user) { phone in
                    let form = [("token", phone.refreshToken), ("client_id", phone.client.id)]
                    let revoked = try await user.world.server.post("/oauth/revoke", form: form)
                    #expect(revoked.status == 200)
                }
            },
            ModelCause("a refresh token is replayed") { user in
                try await end(user) { phone in
                    let next = try await user.world.refresh(phone.refreshToken)
                    try #require(try await user.world.isLive(try next.require("access_token")))
                    #expect(try await user.world.refresh(phone.refreshToken).error == "invalid_grant")
                }
            },
            ModelCause("an authorization code is replayed") { user in
                let world = user.world
                var browser = try await user.browser()
                let code = try await user.model.authorizationCode(for: world.app, "profile", in: &browser)
                let phone = try Held(client: world.app, world, try await world.redeemAuthorization(code))
                return try await end(user, phone) { _ in
                    let again = try await world.redeemAuthorization(code)
                    #expect(again.error == "invalid_grant")
                }
            },
            ModelCause("an exchange code is replayed") { user in
                let world = user.world
                let phone = try await user.signInOnPhone()
                let code = try await world.exchange(phone.accessToken, for: world.backend).require("code")
                let backend = try Held(client: world.backend, world, try await world.redeem(code, as: world.backend))
                return try await end(user, backend) { _ in
                    let again = try await world.redeem(code, as: world.backend)
                    #expect(again.error == "invalid_grant")
                }
            },
            ModelCause("a thousand newer sign-ins") { user in
                // The others are of the same client, and end with it.
                let phone = try await PhoneTree(of: user)
                return ModelCause.Prepared(members: phone.members()) {
                    try await user.signInAThousandTimes(after: phone.own.held)
                }
            },
            ModelCause("consent is narrowed") { user in try await narrowConsent(user) },
        ])

    /// Ends the family of a phone, or of `held`, by `deed`.
    private static func end(
        _ user: ModelUser, _ held: Held? = nil, by deed: @escaping (Held) async throws -> Void
    ) async throws -> ModelCause.Prepared {
        var own = held
        if own == nil { own = try await user.signInOnPhone() }
        let root = try #require(own)
        let phone = try await PhoneTree(from: root, user.model)
        let others = try await Bystanders(of: user)
        return ModelCause.Prepared(members: phone.members() + others.living) { try await deed(root) }
    }

    /// A third party buys no sessions and no codes: its tokens for more than is still allowed end, and others live.
    private static func narrowConsent(_ user: ModelUser) async throws -> ModelCause.Prepared {
        let world = user.world
        let stranger = try await world.stranger()
        var browser = try await user.browser()
        func allow(_ scope: String, _ ticked: [String], _ more: String = "") async throws -> Held {
            let page = try await browser.open(world.authorizeAddress(["scope": scope], for: stranger) + more)
            let answer = page.status == 200 ? try await world.allow(page, in: &browser, ticking: ticked) : page
            let code = try answer.requireRedirected("code")
            return try Held(client: stranger, world, try await world.redeemAuthorization(code, as: stranger))
        }
        let wide = try await allow("profile email", ["profile", "email"])
        let narrow = try await allow("profile", ["profile"])
        let others = try await Bystanders(of: user)
        return ModelCause.Prepared(
            members: [.held(.own(), "a third party's tokens", wide)] + others.living
                + [Member.held(.own(), "a third party's tokens for less", narrow).always(.lives)]
        ) {
            world.server.clock.advance(by: .seconds(1))
            _ = try await allow("profile email", ["profile"], "&prompt=consent")
        }
    }
}

extension ModelUser {
    /// Signs in to the phone until the oldest sign-ins end: a thousand times, most of them only in the database.
    fileprivate func signInAThousandTimes(after oldest: Held) async throws {
        world.server.clock.advance(by: .seconds(1))
        let (now, number) = (world.server.clock.now, try #require(Int64(id)))
        try await world.server.database.write { [world, id] db in
            for made in 0..<1200 {
                try db.execute(
                    """
                    INSERT INTO token_families (id, path, client_id, user_id, scope, signed_in_at, created_at,
                        expires_at)
                    VALUES (\("made-\(id)-\(made)"), \("made-\(id)-\(made)"),
                        \(world.app.id), \(number), 'email', \(now), \(now),
                        \(now + .days(1)))
                    """)
            }
        }
        // One sign-in in 256 ends the oldest.
        var tries = 0
        while try await world.isLive(oldest.accessToken), tries < 3000 {
            for _ in 1...20 { _ = try await signInOnPhone() }
            world.server.clock.advance(by: .seconds(20))
            tries += 20
        }
    }
}
