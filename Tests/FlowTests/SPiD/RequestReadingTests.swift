import Cryptography
import HTTPSupport
import JSON
import TestSupport
import Testing
import Values

@Suite("How SPiD's API reads requests: their order, their carriers, and what SDKs send")
struct RequestReadingTests {
    private func post(
        _ world: World, _ path: String, _ type: String, _ body: String, bearer: String? = nil
    ) async throws -> Answer {
        try await world.server.send(
            "POST", "/api/2/" + path, body: Array(body.utf8), bearer: bearer,
            headers: ["Content-Type": type])
    }

    private let form = "application/x-www-form-urlencoded"

    @Test("SPiD's API refuses a form sent without a content type, unless the form is empty")
    func untyped() async throws {
        try await World.with(.sqlite) { world in
            let app = try await world.spidBackend()
            let phone = try await world.signIn(with: app).require("access_token")
            func change(_ body: String) async throws -> Int {
                let path = "/api/2/user/\(world.user)"
                return try await world.server.send("POST", path, body: Array(body.utf8), bearer: phone).status
            }
            #expect(try await change("displayName=Ada") == 400)
            #expect(try await change("") == 200)
        }
    }

    @Test(
        "A malformed request to SPiD's API without a valid token gets 401, not 400", arguments: Backend.available)
    func tokenFirst(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn().require("access_token")
            let broken = [
                ("oauth/exchange", form, "type=code&type=code"), ("oauth/exchange", form, "type=%zz"),
                ("oauth/exchange", form, "scope=a&scope=b"), ("oauth/exchange", "application/json", "{}"),
                ("oauth/exchange?type=code&type=code", form, "clientId=x"),
                ("oauth/exchange?type=%zz", form, "clientId=x"),
            ]
            for (path, type, body) in broken {
                let unknown = try await post(world, path, type, body)
                #expect(unknown.status == 401 && unknown.json["error"] == "invalid_token", "\(path) \(body)")
                let dead = try await post(world, path, type, body, bearer: "dead")
                #expect(dead.status == 401, "\(path) \(body)")
                let known = try await post(world, path, type, body, bearer: phone)
                #expect(known.status == 400 && known.json["name"] == "SPP Container", "\(path) \(body)")
            }
            #expect(try await world.api("clients?limit=1&limit=%zz", nil).status == 401)
        }
    }

    @Test("From SPiD's clients, equal values of a parameter in query and body count as one, also the token")
    func saidTwice() async throws {
        try await World.with(.sqlite) { world in
            let spid = try await world.spidBackend()
            let token = try await world.signIn(with: spid).require("access_token")
            let path = "oauth/exchange?oauth_token=\(token)&clientId=\(spid.id)"
            let form: KeyValuePairs<String, String> = ["oauth_token": token, "clientId": spid.id, "type": "code"]
            let bought = try await world.api(path, nil, form)
            #expect(bought.status == 200, "\(bought)")
            #expect(try await world.api(path, token, form).status == 400, "in the header as well")
            let other = try await world.api(path, nil, ["oauth_token": token, "clientId": "other", "type": "code"])
            #expect(other.status == 400)
            let another = try await world.api(path, nil, ["oauth_token": "another", "type": "code"])
            #expect(another.status == 400)
            // Other clients must choose one way (RFC 6750 §2).
            let strict = try await world.signIn().require("access_token")
            let refused = try await world.api("oauth/exchange?oauth_token=\(strict)", nil, ["oauth_token": strict])
            #expect(refused.status == 400)
        }
    }

    @Test("An endpoint of SPiD's API that reads no body ignores a body sent to it")
    func unreadBody() async throws {
        try await World.with(.sqlite) { world in
            for (type, body) in [
                ("application/json", "{}"), ("multipart/form-data; boundary=x", "--x--"), (form, "a=%zz&fp=1&fp=2"),
            ] {
                let answer = try await post(world, "status", type, body)
                #expect(answer.status == 200 && answer.data["platform"] == "up", "\(type)")
            }
        }
    }

    @Test("A path of SPiD's API with a NUL in a name gets 404", arguments: Backend.available)
    func brokenNames(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            for name in ["%00", "a%00b", "%00.json"] {
                for path in [
                    "client/\(name)", "user/\(name)", "user/\(name)/logins", "user/\(name)/agreements",
                    "user/\(name)/connected?clientId=x", "token/\(name)/authentication", "email/\(name)/status",
                ] {
                    let answer = try await world.api(path, token)
                    #expect(answer.status == 404, "\(path)")
                    #expect(answer.json["name"] == "SPP Container" && answer.json["code"] == 404, "\(path)")
                }
            }
        }
    }

    @Test("SPiD's list of users takes a repeated filters parameter, but refuses a repeated limit")
    func filters() async throws {
        try await World.with(.sqlite) { world in
            let spid = try await world.spidBackend()
            let token = try await world.clientToken(spid)
            _ = try await world.signIn(with: spid)
            for query in ["filters=unverified&filters=merchant", "filters[]=unverified&filters[]=verified"] {
                let users = try await world.api("users?" + query, token)
                #expect(users.status == 200 && users.data.array?.count == 1, "\(query)")
            }
            #expect(try await world.api("users?filters=verified&filters=merchant", token).data == [])
            #expect(try await world.api("users?filters=merchant&filters=dancing", token).status == 400)
            #expect(try await world.api("users?limit=1&limit=1", token).status == 400, "what is one thing may not")
        }
    }

    @Test("SPiD's API refuses a form of a thousand parameters or more, even if its hash is right")
    func manyHashed() async throws {
        try await World.with(.sqlite) { world in
            let made = try await world.server.send(
                "POST", "/admin/v1/clients",
                json: [
                    "merchant_id": .string(world.merchant), "client_name": "Signing", "spid_compatible": true,
                    "grant_types": ["client_credentials"], "scope": "email",
                ], bearer: world.admin)
            let client = World.Actor(
                id: try made.require("client_id"), secret: try made.require("client_secret"), redirectURI: "")
            let token = try await world.clientToken(client)
            _ = try await world.signIn()
            // Their values are empty: the hash is right.
            let hash = Base64URL.encode(Digest.hmacSHA256([], key: Array(try made.require("sign_secret").utf8)))
            let path = "user/\(world.user)/agreements/accept"
            for (count, status) in [(12_500, 400), (1000, 400), (999, 200)] {
                let body = String(repeating: "a[]=&", count: count) + "hash=\(hash)"
                let answer = try await post(world, path, form, body, bearer: token)
                #expect(answer.status == status, "\(count)")
                #expect(status == 200 || answer.body.contains("1000"), "\(answer)")
            }
        }
    }

    @Test("SPiD's API answers its root path with 404 in SPiD's container, and says why it refuses a token")
    func words() async throws {
        try await World.with(.sqlite) { world in
            for path in ["/api/2", "/api/2/"] {
                let root = try await world.server.get(path)
                #expect(root.status == 404 && root.json["name"] == "SPP Container" && root.json["code"] == 404)
            }
            func description(_ token: String?) async throws -> String? {
                try await world.api("me", token).json["error_description"]?.string
            }
            let tail = "(OAuth realm: \"Service\", Scope: \"\")"
            #expect(
                try await description("dead") == "401 Unauthorized access! Reason: \"invalid_token\" \(tail)")
            #expect(try await description(nil) == "401 Unauthorized access! Reason: \"no token passed\" \(tail)")
            let token = try await world.signIn().require("access_token")
            world.server.clock.advance(by: .hours(1))
            #expect(try await description(token) == "401 Unauthorized access! Reason: \"expired_token\" \(tail)")
            let entries = try await world.api("endpoints", nil).data.array ?? []
            func controller(_ path: String) -> JSON? { entries.first { $0["path"]?.string == path }?["controller"] }
            #expect(controller("signup_jwt") == "Api/2/User.user_signup_jwt")
            #expect(controller("user/attach_jwt") == "Api/2/User.user_attach_jwt")
        }
    }

    // MARK: What SDKs send

    @Test(
        "The token endpoint accepts a method parameter in the query and empty ones, as SPiD's SDKs send them",
        arguments: Backend.available)
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

    @Test(
        "A call of the API may have its token and a method parameter in the query only for SPiD's clients",
        arguments: Backend.available)
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
        "Two equal Authorization header fields count as one in SPiD's API, for SPiD's clients only",
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

    @Test(
        "A client id sent to SPiD's API in place of a token gets 401, like an invalid token",
        arguments: Backend.available)
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
        "The password grant accepts a user name with a plus, surrounding spaces or other letter case",
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
            // A plus that is not escaped is a space (WHATWG URL), so this is an unknown name.
            let body = "grant_type=password&username=ada+spindle@example.com&password=correct+horse+battery"
            let answer = try await world.server.send(
                "POST", "/oauth/token", body: Array("\(body)&client_id=\(world.app.id)".utf8),
                headers: ["Content-Type": "application/x-www-form-urlencoded"])
            try await expect(400, "invalid_grant", answer)
        }
    }

    // MARK: Forms in parts

    private static let boundary = "------------------------d74496d66958873e"

    private func body(_ form: [(String, String)]) -> String {
        form.map { "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"\($0.0)\"\r\n\r\n\($0.1)\r\n" }
            .joined()
            + "--\(Self.boundary)--\r\n"
    }

    private func send(
        _ world: World, _ path: String, _ body: String, type: String? = nil, bearer: String? = nil
    ) async throws -> Answer {
        try await world.server.send(
            "POST", path, body: Array(body.utf8), bearer: bearer,
            headers: ["Content-Type": type ?? "multipart/form-data; boundary=\(Self.boundary)"])
    }

    @Test(
        "Multipart forms work as SPiD's SDK for PHP sends them, for tokens and for calls of SPiD's API",
        arguments: Backend.available)
    func sdk(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let form = [
                ("client_id", loom.id), ("client_secret", loom.secret), ("redirect_uri", loom.redirectURI),
                ("grant_type", "client_credentials"), ("scope", ""), ("state", ""),
            ]
            for path in ["/oauth/token", "/api/2/oauth/token?method=POST"] {
                let answer = try await send(world, path, body(form))
                #expect(answer.status == 200 && answer.json["user_id"] == false, "\(answer)")
            }
            let quoted = "Multipart/Form-Data; boundary=\"\(Self.boundary)\""
            let token = try await send(world, "/oauth/token", body(form), type: quoted).require("access_token")
            let new = body([("email", "grace@example.com"), ("displayName", "Grace\r\nHopper -- \u{E6}")])
            let refused = try await send(world, "/api/2/signup", new, bearer: token)
            #expect(refused.status == 400 && refused.spidError?.string?.contains("displayName") == true)
            let made = try await send(
                world, "/api/2/signup", body([("email", "grace@example.com"), ("displayName", "Gr\u{E6}ce")]),
                bearer: token)
            #expect(made.status == 201 && made.data["displayName"] == "Gr\u{E6}ce", "\(made)")
            let wrong = try await send(world, "/oauth/token", body(form.map { ($0, $0 == "client_secret" ? "x" : $1) }))
            #expect(wrong.status == 400 && wrong.json["error"] == "invalid_client_credentials")
        }
    }

    @Test(
        "Multipart forms from other clients, or without a client, are refused like any other media type",
        arguments: Backend.available)
    func others(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            for id in [world.backend.id, "unknown", ""] {
                let form = [
                    ("client_id", id), ("client_secret", world.backend.secret), ("grant_type", "client_credentials"),
                ]
                let answer = try await send(world, "/oauth/token", body(form))
                #expect(answer.status == 400 && answer.json["error"] == "invalid_request", "\(id): \(answer)")
                #expect(answer.json["error_description"]?.string?.contains("application/x-www-form-urlencoded") == true)
            }
            let strict = try await world.signIn().require("access_token")
            let path = "/api/2/user/\(world.user)/agreements/accept"
            #expect(try await send(world, path, body([("contextClientId", "x")]), bearer: strict).status == 400)
            for path in ["/oauth/revoke", "/oauth/introspect", "/oauth/exchange"] {
                let answer = try await send(world, path, body([("token", strict)]), bearer: nil)
                #expect((400...401).contains(answer.status), "\(path)")
            }
        }
    }

    @Test("A multipart form that is not as libcurl writes it is refused")
    func strict() async throws {
        try await World.with(.sqlite) { world in
            let loom = try await world.spidBackend()
            let id = "--x\r\nContent-Disposition: form-data; name=\"client_id\"\r\n\r\n\(loom.id)\r\n"
            func part(_ head: String, _ value: String = "1") -> String {
                id + "--x\r\n\(head)\r\n\r\n\(value)\r\n--x--\r\n"
            }
            let good = "Content-Disposition: form-data; name=\"a\""
            var bodies = [
                "", "--x", "--x--", "--x--\r\n", id, id + "--x", id + "--x-", id + "--x--x", " " + part(good),
                part(good) + "epilogue", part(good).replacing("\r\n", with: "\n"), part(good, "\u{0}"), part(""),
                part("X: y\r\n" + good), part(good + "\r\nContent-Type: text/plain"), part(good + "; filename=\"a\""),
                part("Content-Disposition: form-data; name=a"), part("Content-Disposition: form-data; name=\"\""),
                part("Content-Disposition: form-data; name=\"a\\\"b\""), part("Content-Disposition: form-data"),
                part("Content-Disposition: attachment; name=\"a\""), part("Content-Disposition; name=\"a\""),
            ]
            bodies.append(String(repeating: id, count: 101) + "--x--")
            for body in bodies {
                let answer = try await send(world, "/oauth/token", body, type: "multipart/form-data; boundary=x")
                #expect(answer.status == 400 && answer.json["error"] == "invalid_request", "\(body.debugDescription)")
                #expect(
                    answer.json["error_description"]?.string?.contains("malformed") == true, "\(body.debugDescription)")
            }
            let types = [
                "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
                "multipart/form-data; boundary=x; charset=utf-8", "multipart/form-data; boundary=x y",
                "multipart/form-data; boundary=" + String(repeating: "x", count: 71), "multipart/form-data; b=x",
            ]
            for type in types {
                let answer = try await send(world, "/oauth/token", part(good), type: type)
                #expect(answer.status == 400 && answer.json["error"] == "invalid_request", "\(type): \(answer)")
            }
            let large = part(good, String(repeating: "x", count: 65536))
            #expect(try await send(world, "/oauth/token", large, type: "multipart/form-data; boundary=x").status == 413)
            // This form is readable, and refused for its content.
            let read = try await send(world, "/oauth/token", part(good), type: "multipart/form-data; boundary=x")
            #expect(read.json["error_code"] == "400 Bad Request", "\(read)")
        }
    }
}
