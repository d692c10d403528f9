import Cryptography
import JSON
import TestSupport
import Testing

@Suite("The secret of an app, which is in each copy of it, reaches none of its users")
struct AppSecretTests {
    private static let grants: JSON = ["password", "authorization_code", "refresh_token", "client_credentials"]

    @Test(
        "whoever takes the secret out of an app reads and changes all of its users", arguments: Backend.available,
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
            // What an app needs before somebody has signed in, and a user's own token.
            for path in ["client/\(app.id)", "clients", "products", "terms", "email/YWRhQGV4YW1wbGUuY29t/status"] {
                let answer = try await world.api(path, own)
                #expect(answer.status == 200, "\(path): \(answer)")
            }
            #expect(try await world.api(user, phone).status == 200)
            #expect(try await world.api("\(user)/agreements", phone).status == 200)
        }
    }
    @Test("whoever has the secret of an app uses up the guesses that are reserved for its merchant's backends")
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

    @Test("whoever has the secret of an app uses up the codes that are kept for its merchant's backends")
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
}
