import JSON
import TestSupport
import Testing

@Suite("Parameters and spellings that SPiD's SDKs send")
struct SDKHabitTests {
    @Test("A method in the query and empty parameters are accepted at the token endpoint", arguments: Backend.available)
    func emptyParameters(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let grants: [KeyValuePairs<String, String>] = [
                ["grant_type": "client_credentials"],
                ["grant_type": "password", "username": World.email, "password": World.password],
                [
                    "grant_type": "refresh_token",
                    "refresh_token": try await world.signIn(with: spid).require("refresh_token"),
                ],
            ]
            for grant in grants {
                for redirectURI in ["", spid.redirectURI] {
                    let form =
                        grant.map { ($0.key, $0.value) } + [
                            ("client_id", spid.id), ("client_secret", spid.secret), ("redirect_uri", redirectURI),
                            ("scope", ""), ("state", ""),
                        ]
                    let answer = try await world.server.post("/oauth/token?method=POST", form: form)
                    #expect(answer.status == 200, "\(answer)")
                    #expect(answer.json["scope"] == "profile email")
                }
            }
        }
    }

    @Test("A token and a method in a call's query are accepted from SPiD's clients only", arguments: Backend.available)
    func queryToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let token = try await world.signIn(with: spid).require("access_token")
            let bought = try await world.server.post(
                "/api/2/oauth/exchange?method=POST&oauth_token=\(token)", ["clientId": spid.id, "type": "code"])
            #expect(bought.status == 200, "\(bought)")
            #expect(try await world.server.get("/me?method=GET&oauth_token=\(token)").status == 200)
            let strict = try await world.signIn().require("access_token")
            #expect(try await world.server.get("/me?method=GET&oauth_token=\(strict)").status == 401)
        }
    }

    @Test(
        "Two equal Authorization fields count as one in SPiD's API, for SPiD's clients only",
        arguments: Backend.available)
    func repeatedField(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let token = try await world.signIn(with: spid).require("access_token")
            let other = try await world.signIn(with: spid).require("access_token")
            func get(_ path: String, _ bearer: String, _ field: String) async throws -> Answer {
                try await world.server.get(path, bearer: bearer, headers: ["Authorization": field])
            }
            let me = try await get("/api/2/me", token, "Bearer \(token)")
            #expect(me.status == 200 && me.data["email"] == .string(World.email), "\(me)")
            for field in ["Bearer \(other)", "bearer \(token)", "Bearer  \(token)"] {
                #expect(try await get("/api/2/me", token, field).status == 400, "\(field)")
            }
            for path in ["/me", "/oauth/userinfo", "/api/2/me?oauth_token=\(token)"] {
                #expect(try await get(path, token, "Bearer \(token)").status == 400, "\(path)")
            }
            let strict = try await world.signIn().require("access_token")
            #expect(try await get("/api/2/me", strict, "Bearer \(strict)").status == 400)
        }
    }

    @Test("A client id sent in place of a missing token gets a plain 401", arguments: Backend.available)
    func noToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let call = try await world.server.post(
                "/api/2/oauth/exchange?method=POST&oauth_token=\(spid.id)", ["type": "code"])
            #expect(call.status == 401 && call.json["error"] == "invalid_token")
            #expect(call.json["type"] == "OAuthException")
            #expect(try await world.server.get("/me?method=GET&oauth_token=\(spid.id)").status == 401)
        }
    }

    @Test(
        "A user name with a plus, with spaces around it, or in other letter case signs in",
        arguments: Backend.available)
    func userNames(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let user = try await world.person("ada+spindle@example.com")
            for name in ["ada+spindle@example.com", " ada+spindle@example.com", "Ada+Spindle@Example.com \t"] {
                for client in [spid, world.app] {
                    let answer = try await world.signIn(with: client, as: name)
                    #expect(answer.json["user_id"]?.string == user, "\(name)")
                }
            }
            // Not escaped, a plus is a space (WHATWG URL): another name, which nobody has.
            let body = "grant_type=password&username=ada+spindle@example.com&password=correct+horse+battery"
            let answer = try await world.server.send(
                "POST", "/oauth/token", body: Array("\(body)&client_id=\(world.app.id)".utf8),
                headers: ["Content-Type": "application/x-www-form-urlencoded"])
            try await expect(400, "invalid_grant", answer)
        }
    }
}
