import Cryptography
import JSON
import TestSupport
import Testing

@Suite("The secret of an app, which is in each copy of the app")
struct AppSecretTests {
    private static let grants: JSON = ["password", "authorization_code", "refresh_token", "client_credentials"]

    @Test(
        "A token got with an app's secret neither reads nor changes the app's users",
        arguments: Backend.available,
        [["spid-loom://login"], ["https://loom.example/in", "spid-loom://login"]] as [JSON])
    func secret(backend: Backend, addresses: JSON) async throws {
        try await World.with(backend) { world in
            let app = try await world.spidBackend(["redirect_uris": addresses, "grant_types": Self.grants])
            let site = try await world.spidBackend()
            let phone = try await world.signIn(with: app).require("access_token")
            _ = try await world.signIn(with: site)
            let (own, backend) = (try await world.clientToken(app), try await world.clientToken(site))
            let user = "user/\(world.user)"
            let reads = [
                "users", "search/users?query=ada", user, "\(user)/connected?clientId=\(app.id)", "logins",
                "\(user)/logins", "\(user)/agreements", "\(user)/required_fields", "\(user)/products", "dataobjects",
                "users?contextClientId=\(site.id)",
            ]
            for path in reads {
                let answer = try await world.api(path, own)
                let isOfApp = answer.spidError?.string?.contains("own token") == true
                #expect(answer.status == 403 && isOfApp, "\(path): \(answer)")
                #expect(try await world.api(path, backend).status == 200, "\(path)")
            }
            let change = try await world.api(user, own, ["displayName": "Mallory"])
            #expect(change.status == 403, "\(change)")
            #expect(try await world.api("\(user)/do/theme", own, ["value": "x"]).status == 403)
            #expect(try await world.server.get("/user/\(world.user)", bearer: own).status == 403)
            #expect(try await world.server.get("/user/\(world.user)", bearer: backend).status == 200)
            let pair = Base64.encode(Array("\(app.id):\(app.secret)".utf8))
            let proven = try await world.server.get("/api/2/users", headers: ["Authorization": "Basic " + pair])
            #expect(proven.status == 403, "\(proven)")
            // What an app needs before a user has signed in, and what a user's own token may do.
            for path in ["client/\(app.id)", "clients", "products", "terms", "email/YWRhQGV4YW1wbGUuY29t/status"] {
                let answer = try await world.api(path, own)
                #expect(answer.status == 200, "\(path): \(answer)")
            }
            #expect(try await world.api(user, phone).status == 200)
            #expect(try await world.api("\(user)/agreements", phone).status == 200)
        }
    }
    @Test("Password guesses with an app's secret do not use up those reserved for its merchant's backends")
    func guesses() async throws {
        try await World.with(.sqlite) { world in
            let app = try await world.spidBackend(["redirect_uris": ["spid-loom://login"], "grant_types": Self.grants])
            let site = try await world.spidBackend()
            func guess(_ number: Int, at client: World.Actor) async throws -> Int {
                try await world.token(
                    ["grant_type": "password", "username": "nobody\(number)@example.com", "password": "a guess"],
                    as: client
                ).status
            }
            var statuses: [Int] = []
            for number in 1...61 { statuses.append(try await guess(number, at: app)) }
            #expect(Set(statuses.dropLast()).count == 1 && statuses.last != statuses.first, "\(statuses)")
            #expect(try await guess(62, at: site) == statuses.first)
        }
    }

    @Test("Mailed codes requested with an app's secret do not use up those kept for its merchant's backends")
    func codes() async throws {
        try await World.with(.sqlite) { world in
            let grants: JSON = ["passwordless", "refresh_token", "client_credentials"]
            let app = try await world.spidBackend(["redirect_uris": ["spid-loom://login"], "grant_types": grants])
            let site = try await world.spidBackend(["grant_types": grants])
            let own = try await world.clientToken(app)
            let asked: KeyValuePairs = ["connection": "email", "email": World.email]
            func letters(_ expected: Int) async throws -> Int {
                let deadline = ContinuousClock.now + .seconds(10)
                while world.server.mail.letters(to: World.email).count < expected, ContinuousClock.now < deadline {
                    try await Task.sleep(for: .milliseconds(20))
                }
                return world.server.mail.letters(to: World.email).count
            }
            for _ in 1...8 {
                #expect(try await world.server.post("/passwordless/start", asked, basic: app.basic).status == 200)
                #expect(try await world.api("passwordless/start", own, asked).status == 200)
            }
            #expect(try await letters(5) == 5, "strangers have as many")
            #expect(try await world.server.post("/passwordless/start", asked, basic: site.basic).status == 200)
            #expect(try await letters(6) == 6)
        }
    }

    @Test("Sign-ups with an app's secret are limited to thirty per IP address; a backend there is not affected")
    func signUps() async throws {
        try await World.with(.sqlite, settings: ["trusted_proxies": "127.0.0.0/8"]) { world in
            let app = try await world.spidBackend(["redirect_uris": ["spid-loom://login"], "grant_types": Self.grants])
            let site = try await world.spidBackend()
            let (own, backend) = (try await world.clientToken(app), try await world.clientToken(site))
            func signUp(_ number: Int, by token: String, from address: String) async throws -> Int {
                try await world.server.post(
                    "/api/2/signup", ["email": "new\(number)@example.com"], bearer: token,
                    headers: ["X-Forwarded-For": address]
                ).status
            }
            for number in 1...30 { #expect(try await signUp(number, by: own, from: "203.0.113.9") == 201) }
            #expect(try await signUp(31, by: own, from: "203.0.113.9") == 429)
            #expect(try await signUp(32, by: own, from: "203.0.113.10") == 201)
            #expect(try await signUp(33, by: backend, from: "203.0.113.9") == 201, "its backend is charged itself")
        }
    }

    @Test("A web page cannot request mailed codes or sign users up with an app's secret")
    func pages() async throws {
        try await World.with(.sqlite) { world in
            let grants: JSON = ["passwordless", "refresh_token", "client_credentials"]
            let app = try await world.spidBackend(["redirect_uris": ["spid-loom://login"], "grant_types": grants])
            let site = try await world.spidBackend(["grant_types": grants])
            let (own, backend) = (try await world.clientToken(app), try await world.clientToken(site))
            let asked: KeyValuePairs = ["connection": "email", "email": World.email]
            for page in [["Origin": "https://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
                func post(_ path: String, _ form: KeyValuePairs<String, String>, _ token: String) async throws -> Int {
                    try await world.server.post("/api/2/\(path)", form, bearer: token, headers: page).status
                }
                let start = "/passwordless/start"
                #expect(try await world.server.post(start, asked, basic: app.basic, headers: page).status == 400)
                #expect(try await world.server.post(start, asked, basic: site.basic, headers: page).status == 200)
                #expect(try await post("passwordless/start", asked, own) == 403)
                #expect(try await post("signup", ["email": "bea@example.com"], own) == 403)
                #expect(try await post("passwordless/start", asked, backend) == 200)
            }
            #expect(try await world.server.post("/passwordless/start", asked, basic: app.basic).status == 200)
            #expect(try await world.api("passwordless/start", own, asked).status == 200)
        }
    }

    @Test(
        "An app that has a secret rotates its refresh tokens, and a replay ends their family",
        arguments: Backend.available)
    func refresh(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.spidBackend(["redirect_uris": ["spid-loom://login"], "grant_types": Self.grants])
            let first = try await world.signIn(with: app).require("refresh_token")
            let second = try await world.refresh(first, as: app).require("refresh_token")
            #expect(second != first)
            let third = try await world.refresh(second, as: app)
            #expect(third.status == 200)
            // The first token is a replay by now.
            #expect(try await world.refresh(first, as: app).status == 400)
            #expect(try await world.refresh(try third.require("refresh_token"), as: app).status == 400)
            let never: JSON = ["rotate_refresh_tokens": false]
            expectProblem(try await world.change("clients", app.id, never), 400, member: "rotate_refresh_tokens")
            let renamed = try await world.change("clients", app.id, ["client_name": "Loom"])
            #expect(renamed.json["rotate_refresh_tokens"] == true, "\(renamed)")
        }
    }
}
