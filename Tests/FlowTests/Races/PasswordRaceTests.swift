import JSON
import Storage
import TestSupport
import Testing

/// Before a password is hashed its try is charged (write 1); after it the place is remembered (2); then comes what the
/// password was for (3).
@Suite("A change during password hashing counts")
struct PasswordRaceTests {
    private static let other: JSON = ["password": "another quiet loom"]

    @Test(
        "A password grant whose password is replaced meanwhile gives no tokens and makes no browser known",
        arguments: Backend.available,
        [2, 3])
    func grant(backend: Backend, write: Int) async throws {
        try await World.with(backend) { world in
            world.server.interruptions.interrupt(beforeWrite: write) {
                try await world.change("users", world.user, Self.other)
            }
            try await expect(400, "invalid_grant", try await world.signIn())
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await world.count("token_families") == 0)
            if write == 2 {
                #expect(try await world.count("known_devices") == 0)
                #expect(try await world.count("logins WHERE succeeded = 1") == 0)
            }
        }
    }

    @Test(
        "A sign-in on the login page with a password that is replaced meanwhile starts no session",
        arguments: Backend.available,
        [2, 3])
    func page(backend: Backend, write: Int) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let page = try await browser.open("/login")
            world.server.interruptions.interrupt(beforeWrite: write) {
                try await world.change("users", world.user, Self.other)
            }
            let answer = try await browser.submit(page, ["email": World.email, "password": World.password])
            #expect(world.server.interruptions.wasInterrupted)
            #expect(answer.status != 303 && browser.session == nil, "\(answer)")
            #expect(try await world.count("sessions") == 0)
        }
    }

    @Test(
        "A client that loses grant, scope or access during its password grant gets no tokens",
        arguments: Backend.available, [1, 2, 3])
    func client(backend: Backend, write: Int) async throws {
        let changes: [(JSON, Int, String)] = [
            (["grant_types": ["authorization_code", "refresh_token"]], 400, "unauthorized_client"),
            (["scope": "openid"], 400, "invalid_scope"), (["disabled": true], 401, "invalid_client"),
        ]
        try await World.with(backend) { world in
            for (change, status, error) in changes {
                let app = try await World.client(
                    world.server, world.admin,
                    [
                        "merchant_id": .string(world.merchant), "redirect_uris": ["loom://in"],
                        "grant_types": ["password", "refresh_token"], "scope": "openid profile",
                        "token_endpoint_auth_method": "none",
                    ])
                world.server.interruptions.interrupt(beforeWrite: write) {
                    try await world.change("clients", app.id, change)
                }
                try await expect(status, error, try await world.signIn(scope: "profile", with: app), "\(change.text)")
                #expect(world.server.interruptions.wasInterrupted)
                #expect(try await world.count("token_families") == 0)
            }
        }
    }

    @Test(
        "A password grant gets 503 and no tokens if its client's secret ends meanwhile", arguments: Backend.available,
        [1, 2, 3])
    func endedSecret(backend: Backend, write: Int) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["grant_types": ["password"]])
            let path = "/admin/v1/clients/\(client.id)/secrets"
            let list = try await world.server.get(path, bearer: world.admin)
            let secret = try #require(list.json["items"]?.array?.first?["id"]?.string, "\(list)")
            world.server.interruptions.interrupt(beforeWrite: write) {
                let ended = try await world.server.send("DELETE", "\(path)/\(secret)", bearer: world.admin)
                #expect(ended.status == 204)
            }
            let answer = try await world.signIn(with: client)
            #expect(answer.status == 503 && answer.header("retry-after") == "1", "\(answer)")
            #expect(try await world.count("token_families") == 0)
            #expect(try await world.signIn(with: client).status == 401)
        }
    }

    @Test(
        "A client replaced during its password grant by one with the same id gets no tokens",
        arguments: Backend.available, [1, 2, 3])
    func replacedClient(backend: Backend, write: Int) async throws {
        try await World.with(backend) { world in
            let (server, app) = (world.server, world.app.id)
            server.interruptions.interrupt(beforeWrite: write) {
                // As when a client is deleted and another made with its id.
                try await server.database.write { db in
                    _ = try db.execute("UPDATE clients SET created_at = created_at + 1 WHERE id = \(app)")
                }
            }
            try await expect(401, "invalid_client", try await world.signIn(), "\(write)")
            #expect(server.interruptions.wasInterrupted)
            #expect(try await world.count("token_families") == 0)
        }
    }

    @Test(
        "A password that is replaced during the request cannot confirm a change of the e-mail address",
        arguments: Backend.available, [2, 3])
    func address(backend: Backend, write: Int) async throws {
        try await World.with(backend) { world in
            var ada = try await world.signedIn()
            let page = try await ada.browser.open("/account")
            world.server.interruptions.interrupt(beforeWrite: write) {
                try await world.change("users", world.user, Self.other)
            }
            let answer = try await ada.press(
                page, action: "/account/email",
                ["email": "thief@example.com", "current_password": World.password])
            #expect(world.server.interruptions.wasInterrupted)
            #expect(answer.status == 400, "\(answer)")
            #expect(try await world.count("verifications") == 0)
            #expect(world.server.mail.letters.isEmpty)
        }
    }

    @Test(
        "A password that is replaced during the request can neither set a new one nor delete the user",
        arguments: Backend.available,
        [2, 3])
    func user(backend: Backend, write: Int) async throws {
        try await World.with(backend) { world in
            for (path, fields) in [
                ("/account/password", ["new_password": "a thief's own loom"]), ("/account/delete", [:]),
            ] {
                try await world.change("users", world.user, ["password": .string(World.password)])
                var ada = try await world.signedIn()
                let page = try await ada.browser.open(path == "/account/delete" ? path : "/account")
                world.server.interruptions.interrupt(beforeWrite: write) {
                    try await world.change("users", world.user, Self.other)
                }
                let answer = try await ada.press(
                    page, action: path, fields.merging(["current_password": World.password]) { $1 })
                #expect(world.server.interruptions.wasInterrupted)
                #expect(answer.status == 400, "\(path): \(answer)")
                #expect(try await world.signIn(password: "another quiet loom").status == 200, "\(path)")
            }
        }
    }

    @Test(
        "A mailed code that is entered while its session ends neither verifies nor changes an address",
        arguments: Backend.available)
    func addressCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in ["/verify", "/account/email"] {
                var ada = try await world.signedIn()
                let page = try await ada.browser.open(path == "/verify" ? path : "/account")
                let asked = try await ada.press(
                    page, action: path, ["email": "new@example.com", "current_password": World.password])
                let recipient = path == "/verify" ? World.email : "new@example.com"
                let code = try #require(try await world.server.mail.letter(to: recipient).code)
                world.server.interruptions.interrupt {
                    try await world.server.database.write { db in _ = try db.execute("UPDATE sessions SET ended_at = 1")
                    }
                }
                let answer = try await ada.browser.submit(asked, ["code": code])
                #expect(world.server.interruptions.wasInterrupted)
                #expect(answer.status == 410, "\(answer)")
                #expect(try await world.count("users WHERE email_verified = 1 OR email = 'new@example.com'") == 0)
            }
        }
    }

    @Test(
        "An administrator who loses the admin scope during the request sets no password and creates no user",
        arguments: Backend.available)
    func administrator(backend: Backend) async throws {
        try await World.with(backend) { world in
            let deeds: [(method: String, path: String, json: JSON)] = [
                ("POST", "/admin/v1/users", ["email": "new@example.com", "password": "a quiet loom here"]),
                ("PATCH", "/admin/v1/users/\(world.user)", Self.other),
            ]
            for scope in ["", "admin"] {
                for (method, path, json) in deeds {
                    let token = try await world.anotherAdministrator()
                    world.server.interruptions.interrupt {
                        try await world.server.database.write { db in
                            _ = try db.execute(
                                """
                                UPDATE clients SET scope = \(scope), disabled_at = \(scope.isEmpty ? nil : Int64(1))
                                WHERE name = 'Second'
                                """)
                        }
                    }
                    let answer = try await world.server.send(method, path, json: json, bearer: token)
                    #expect(world.server.interruptions.wasInterrupted)
                    #expect(answer.status == (scope.isEmpty ? 403 : 401), "\(method): \(answer)")
                }
            }
            #expect(try await world.signIn().status == 200)
            #expect(try await world.count("users") == 1)
        }
    }

    @Test(
        "A client whose token ends during a sign-up request of SPiD's API creates no user",
        arguments: Backend.available)
    func signUp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.spidBackend()
            let token = try await world.clientToken(phone)
            world.server.interruptions.interrupt(beforeWrite: 2) {
                try await world.server.database.write { db in
                    _ = try db.execute("DELETE FROM access_tokens WHERE client_id = \(phone.id)")
                }
            }
            let answer = try await world.api(
                "signup", token, ["email": "grace@example.com", "password": "a quite unlikely loom"])
            #expect(world.server.interruptions.wasInterrupted)
            #expect(answer.status == 401, "\(answer)")
            #expect(try await world.count("users") == 1)
        }
    }

    /// Sets a new password in `owner`'s browser, before the next write of another request.
    private func interrupt(_ world: World, by owner: BrowserUser) {
        world.server.interruptions.interrupt {
            var owner = owner
            let answer = try await owner.change(
                "password", ["current_password": World.password, "new_password": PasswordChangeTests.new])
            #expect(answer.header("location") == "/account?done=password")
        }
    }

    @Test("A copied session cookie gets no valid code while the user sets a new password", arguments: Backend.available)
    func code(backend: Backend) async throws {
        try await World.with(backend) { world in
            let owner = try await world.signedIn()
            var thief = owner
            interrupt(world, by: owner)
            let answer = try await thief.browser.open(world.authorizeAddress())
            #expect(world.server.interruptions.wasInterrupted)
            guard let code = answer.redirected("code") else { return }
            #expect(try await world.redeemAuthorization(code).error == "invalid_grant")
        }
    }

    @Test(
        "A copied session cookie cannot end the user's own session while the user sets a new password",
        arguments: Backend.available)
    func takeover(backend: Backend) async throws {
        try await World.with(backend) { world in
            let owner = try await world.signedIn()
            var thief = owner
            let page = try await thief.browser.open("/account")
            interrupt(world, by: owner)
            _ = try await thief.press(page, action: "/account/sessions/end-others", [:])
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await !thief.isSignedIn())
            let live = try await world.server.database.rows("SELECT id FROM sessions WHERE ended_at IS NULL")
            #expect(live.count == 1, "the owner's")
        }
    }
}

extension World {
    /// How many rows there are.
    func count(_ table: String) async throws -> Int {
        try await server.database.read { db in
            try db.rows(SQL(script: "SELECT count(*) AS n FROM \(table)")).first?.get("n") ?? -1
        }
    }

    /// The token of another administrator of the platform, who is called Second.
    fileprivate func anotherAdministrator() async throws -> String {
        let client = try await confidential(["client_name": "Second"])
        try await server.database.write { db in
            _ = try db.execute("UPDATE clients SET scope = '', name = 'First' WHERE name = 'Second'")
            try db.execute(
                "UPDATE clients SET name = 'Second', scope = 'admin', merchant_id = NULL WHERE id = \(client.id)")
        }
        return try await clientToken(client, scope: "admin")
    }
}
