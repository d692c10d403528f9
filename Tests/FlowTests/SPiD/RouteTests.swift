import HTTP
import JSON
import Server
import TestSupport
import Testing
import Values

@Suite("The routes of SPiD's API") struct RouteTests {
    @Test(
        "A contextClientId in SPiD's API may name another client of the same merchant, and no other client",
        arguments: Backend.available)
    func context(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.spidBackend()
            let sister = try await world.spidBackend(["tos_uri": "https://loom.example/terms"])
            let rival = try await world.spidBackend(of: world.rival)
            let token = try await world.clientToken(own)
            _ = try await world.signIn()
            let path = "user/\(world.user)/agreements"
            #expect(try await world.api(path, token).data["agreements"]?["client"] == true)
            for name in [own.id, ""] {
                #expect(
                    try await world.api("\(path)?contextClientId=\(name)", token).data["agreements"]?["client"] == true)
            }
            let sisters = try await world.api("\(path)?contextClientId=\(sister.id)", token)
            #expect(sisters.status == 200 && sisters.data["agreements"]?["client"] == false)
            // The parameter may be in the query or in the body of a POST.
            let posted = try await world.api("\(path)/accept", token, ["contextClientId": sister.id])
            #expect(posted.status == 200)
            #expect(
                try await world.api("\(path)?contextClientId=\(sister.id)", token).data == [
                    "agreements": ["platform": true, "client": true]
                ])
            let twice = try await world.api(
                "\(path)/accept?contextClientId=\(sister.id)", token, ["contextClientId": own.id])
            #expect(twice.status == 400)

            try await world.change("clients", sister.id, ["disabled": true])
            world.server.clock.advance(by: .seconds(1))
            for id in [rival.id, sister.id, "unknown"] {
                let foreign = try await world.api("clients?contextClientId=\(id)", token)
                #expect(foreign.status == 401 && foreign.json["error"]?["type"] == "ApiException")
                #expect(foreign.json["code"] == 401 && foreign.data == .null)
            }
            // Only SPiD-compatible clients may use the parameter.
            let phone = try await world.signIn().require("access_token")
            #expect(try await world.api("\(path)?contextClientId=\(own.id)", phone).status == 401)
        }
    }

    @Test("SPiD's API reads a token from the header, the body, or a SPiD client's query, and refuses two tokens")
    func carriers() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let strict = try await world.clientToken(world.backend)
            #expect(try await world.api("clients?oauth_token=\(token)&method=GET", nil).status == 200)
            #expect(try await world.api("clients.json?oauth_token=\(token)", nil).status == 200)
            #expect(try await world.api("logout?oauth_token=\(strict)", nil).status == 401)
            #expect(try await world.api("clients?oauth_token=\(token)", token).status == 400)
            let phone = try await world.signIn().require("access_token")
            let path = "user/\(world.user)/agreements/accept"
            #expect(try await world.api(path, nil, ["oauth_token": phone]).status == 200)
            #expect(try await world.api("\(path)?oauth_token=\(token)", nil, ["oauth_token": phone]).status == 400)
            // One SDK sends its client id while it has no token.
            let id = try await world.api("clients?oauth_token=\(world.backend.id)", nil)
            #expect(id.status == 401 && id.json["error"] == "invalid_token")
        }
    }

    @Test("Any path of SPiD's API may end in `.json`, and a wrong HTTP method is refused in SPiD's container")
    func paths() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            for path in ["clients", "clients.json", "client/\(world.app.id)", "client/\(world.app.id).json"] {
                #expect(try await world.api(path, token).status == 200, "\(path)")
            }
            #expect(try await world.api("client/\(world.app.id).xml", token).status == 404)
            for path in ["clients", "oauth/exchange.json", "user/1/agreements"] {
                let refused = try await world.server.send("PUT", "/api/2/" + path, bearer: token)
                #expect(refused.status == 405 && refused.header("allow") != nil)
                #expect(refused.json["name"] == "SPP Container" && refused.json["code"] == 405)
            }
        }
    }

    @Test("SPiD's endpoint list has every endpoint but the token endpoint, with the kinds of token each takes")
    func endpoints() async throws {
        try await World.with(.sqlite) { world in
            let list = try await world.api("endpoints", nil)
            #expect(list.status == 200 && list.json["type"] == "collection" && list.json["object"] == "Endpoint")
            let entries = list.data.array ?? []
            #expect(list.json["meta"] == ["count": .integer(Int64(entries.count)), "offset": 0])
            let listed = entries.flatMap { entry in
                (entry["httpMethods"]?.members ?? []).map { "\($0.name) \(entry["url"]?.string ?? "")" }
            }
            let served = try world.server.routes.filter { $0.contains(" /api/2/") && !$0.hasSuffix(".json") }
            #expect(listed.count == Set(listed).count)
            // The token endpoint is not in the list.
            #expect(Set(listed + ["POST /api/2/oauth/token"]) == Set(served))

            func entry(_ path: String) -> JSON? { entries.first { $0["path"]?.string == path } }
            #expect(
                entry("user/{id}/agreements/accept") == [
                    "path": "user/{id}/agreements/accept", "url": "/api/2/user/{id}/agreements/accept",
                    "method": "POST", "name": "Accept agreements", "controller": "Api/2/User.accept_agreements",
                    "httpMethods": [
                        "POST": [
                            "name": "POST", "required": [], "optional": [], "accessTokenTypes": ["server", "user"],
                        ]
                    ],
                    "pathParameters": ["id"], "validOutputFormats": ["json"], "defaultOutputFormat": "json",
                ])
            #expect(entry("status")?["method"] == "*" && entry("status")?["pathParameters"] == [])
            func get(_ path: String, _ member: String) -> JSON? { entry(path)?["httpMethods"]?["GET"]?[member] }
            #expect(get("clients", "accessTokenTypes") == ["server"] && get("me", "accessTokenTypes") == ["user"])
            #expect(get("terms", "accessTokenTypes") == [] && get("status", "accessTokenTypes") == [])
            #expect(get("terms", "optional") == ["clientId", "client_id"])
        }
    }

    // MARK: Without a version

    @Test("A path of SPiD's API without a version answers as version 2 does", arguments: Backend.available)
    func same(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let own = try await world.clientToken(loom)
            let user = try await world.signIn(with: loom).require("access_token")
            let calls = [
                ("me", user), ("me.json", user), ("user/\(world.user)", user), ("users", own), ("clients", own),
                ("client/\(loom.id).json", own), ("user/\(world.user)/logins", own), ("endpoints", own),
                ("logins?limit=1", own), ("me", "unknown"), ("users?since=never", own),
            ]
            for (path, token) in calls {
                let versioned = try await world.api(path, token)
                let plain = try await world.server.get("/api/" + path, bearer: token)
                #expect(plain.status == versioned.status, "\(path)")
                #expect(plain.data == versioned.data && plain.error == versioned.error, "\(path)")
                #expect(plain.json["debug"] == versioned.json["debug"], "\(path)")
            }
            let accepted = try await world.server.post("/api/user/\(world.user)/agreements/accept", [:], bearer: user)
            #expect(accepted.status == 200 && accepted.data["result"] == true)
        }
    }

    @Test("Every route of SPiD's API but the token endpoint's has an alias without a version")
    func every() async throws {
        try await World.with(.sqlite) { world in
            let routes = try Set(world.server.routes)
            let versioned = routes.filter { $0.contains(" /api/2/") && !$0.hasSuffix(" /api/2/oauth/token") }
            #expect(versioned.count > 40)
            for route in versioned { #expect(routes.contains(route.replacing(" /api/2/", with: " /api/")), "\(route)") }
            #expect(!routes.contains("POST /api/oauth/token") && routes.contains("POST /oauth/token"))
        }
    }

    @Test("An unknown path below /api, and a wrong method, are refused in SPiD's container")
    func refused() async throws {
        try await World.with(.sqlite) { world in
            for path in ["/api/nothing", "/api/3/me", "/api", "/api/oauth/token"] {
                let unknown = try await world.server.get(path)
                #expect(unknown.status == 404 && unknown.json["name"] == "SPP Container", "\(path)")
            }
            let wrong = try await world.server.send("DELETE", "/api/me")
            #expect(wrong.status == 405 && wrong.json["name"] == "SPP Container")
            #expect(try await world.server.get("/apiary").json["name"] == nil)
        }
    }

    // MARK: Status and version

    @Test("SPiD's status endpoint answers GET and POST without a token, with or without parameters")
    func status() async throws {
        try await World.with(.sqlite) { world in
            let asked = try await world.api("status", nil)
            #expect(asked.status == 200 && asked.json["request"] == .null && asked.json["object"] == "Platform")
            #expect(
                asked.data["oauth"] == [
                    "flows": "redirect|native|webview",
                    "grantTypes": .string(
                        "password|client_credentials|authorization_code|refresh_token|"
                            + "urn:ietf:params:oauth:grant-type:jwt-bearer|"
                            + "urn:ietf:params:oauth:grant-type:token-exchange"),
                ])
            #expect(asked.data["apiVersion"] == 2 && asked.data["platform"] == "up" && asked.data["block"] == false)
            #expect(asked.data["webVersion"] == .string(Spindle.version) && asked.data["timeZone"] == "UTC")

            let posted = try await world.api("status", nil, ["fp": "eyJhIjoiYiJ9+/==", "clientId": "whoever"])
            #expect(posted.status == 200 && posted.data == asked.data)
            #expect(try await world.server.send("POST", "/api/2/status.json").data == asked.data)
            // No token is needed, and none is checked.
            #expect(try await world.api("status", "unknown").status == 200)
        }
    }

    @Test("SPiD's version endpoint tells the current time")
    func version() async throws {
        try await World.with(.sqlite) { world in
            let before = try await world.api("version", nil)
            let time = world.server.clock.now.iso8601.replacing("T", with: " ").replacing("Z", with: "")
            #expect(
                before.data == [
                    "apiVersion": 2, "apiRevision": "0", "webVersion": .string(Spindle.version),
                    "currentTime": .string(time), "timeZone": "UTC",
                ])
            world.server.clock.advance(by: .hours(30))
            let after = try await world.api("version.json", nil)
            #expect(after.data["currentTime"] != before.data["currentTime"])
            #expect(try await world.server.send("DELETE", "/api/2/version").status == 405)
        }
    }

    // MARK: What is left out

    @Test("Paths of SPiD's shop, trackers and simplified-login widget get 404", arguments: Backend.available)
    func absent(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            for path in [
                "describe/user", "anonymous/users", "url/login", "qrcode", "email_templates", "kpis", "user",
                "purchases", "orders", "order/1", "payments", "vouchers", "voucher/1", "campaigns", "subscribe",
                "user/\(world.user)/orders", "user/\(world.user)/traits", "user/\(world.user)/credits", "traits",
            ] {
                let answer = try await world.api(path, token)
                #expect(answer.status == 404 && answer.json["type"] == "error", "\(path): \(answer)")
                #expect(try await world.api(path, token, ["productId": "1"]).status == 404, "\(path)")
            }
            for path in ["/flow/checkout", "/ajax/traits.js", "/authn/simplified-login-widget"] {
                let answer = try await world.server.get("\(path)?client_id=\(loom.id)&callback=f")
                #expect(answer.status == 404, "\(path): \(answer)")
            }
        }
    }
}
