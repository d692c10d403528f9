import JOSE
import JSON
import TestSupport
import Testing
import Values

@Suite("Userinfo: the claims that a user's token may read")
struct UserinfoTests {
    private static let paths = ["/oauth/userinfo", "/userinfo"]

    @Test(
        "Userinfo takes GET and POST, with the token in the Authorization header or in a form body",
        arguments: Backend.available)
    func carriers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(scope: "openid email").require("access_token")
            let server = world.server
            for path in Self.paths {
                let answers = [
                    try await server.get(path, bearer: token), try await server.send("POST", path, bearer: token),
                    try await server.post(path, [:], bearer: token),
                    try await server.post(path, ["access_token": token]),
                    try await server.post(path, ["oauth_token": token]),
                    // A browser gets the same answer as a program.
                    try await server.get(path, bearer: token, headers: ["Accept": "text/html"]),
                ]
                for answer in answers {
                    #expect(answer.status == 200, "\(answer)")
                    #expect(answer.header("content-type") == "application/json")
                    #expect(answer.header("cache-control") == "no-store")
                    let expected: JSON = [
                        "sub": .string(world.user), "email": .string(World.email), "email_verified": false,
                    ]
                    #expect(answer.json == expected)
                }
                let twice = try await server.post(path, ["access_token": token], bearer: token)
                #expect(twice.status == 400)
                #expect(twice.error == "invalid_request")
                let inQuery = try await server.get("\(path)?access_token=\(token)")
                #expect(inQuery.status == 401)
            }
        }
    }

    @Test("Userinfo gives each scope its standard claims, with their JSON types", arguments: Backend.available)
    func claims(backend: Backend) async throws {
        try await World.with(backend) { world in
            let address: JSON = ["street_address": "12 St James's Sq\nLondon", "country": "United Kingdom"]
            let profile: [JSON.Member] = [
                .init("name", "Ada Lovelace"), .init("given_name", "Ada"), .init("family_name", "Lovelace"),
                .init("middle_name", "King"), .init("nickname", "Ada"), .init("preferred_username", "ada"),
                .init("profile", "https://ada.example"), .init("picture", "https://ada.example/p.png"),
                .init("website", "https://ada.example"), .init("gender", "female"), .init("birthdate", "1815-12-10"),
                .init("zoneinfo", "Europe/London"), .init("locale", "en-GB"),
            ]
            let change: [JSON.Member] = [
                .init("address", address), .init("phone_number", "+44 20 7946 0000"), .init("email_verified", true),
            ]
            #expect(try await world.change("users", world.user, .object(profile + change)).status == 200)
            let client = try await world.relyingClient()
            let now = world.server.clock.now.seconds
            let cases: [(String, [JSON.Member])] = [
                ("", []), ("profile", profile + [.init("updated_at", .integer(now))]),
                ("email", [.init("email", .string(World.email)), .init("email_verified", true)]),
                ("address", [.init("address", address)]),
                ("phone", [.init("phone_number", "+44 20 7946 0000"), .init("phone_number_verified", false)]),
            ]
            for (scope, members) in cases {
                let token = try await world.signIn(scope: "openid \(scope)", with: client).require("access_token")
                let answer = try await world.server.get("/oauth/userinfo", bearer: token)
                let found = Set(answer.json.members ?? [])
                #expect(found == Set(members + [.init("sub", .string(world.user))]), "\(scope)")
            }
            let both = try await world.signIn(scope: "openid address", with: client).require("access_token")
            #expect(try await world.server.get("/me", bearer: both).json["address"] == address)
        }
    }

    @Test("Userinfo's errors are those of RFC 6750", arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await World.with(backend) { world in
            let server = world.server
            let bare = try await server.get("/oauth/userinfo")
            #expect(bare.status == 401)
            #expect(bare.header("www-authenticate") == "Bearer realm=\"spindle\"")
            let withoutScope = try await server.get(
                "/oauth/userinfo", bearer: try await world.signIn(scope: "email").require("access_token"))
            #expect(withoutScope.status == 403)
            #expect(withoutScope.error == "insufficient_scope")
            #expect(withoutScope.header("www-authenticate")?.contains("error=\"insufficient_scope\"") == true)

            let client = try await world.relyingClient()
            let own = try await world.clientToken(client, scope: "openid")
            let live = try await world.signIn(scope: "openid")
            let ended = try await world.signIn(scope: "openid").require("access_token")
            _ = try await server.post("/oauth/revoke", ["token": ended, "client_id": world.app.id])
            for token in ["nonsense", own, ended, try live.require("id_token")] {
                let answer = try await server.get("/oauth/userinfo", bearer: token)
                #expect(answer.status == 401)
                #expect(answer.error == "invalid_token")
                #expect(answer.header("www-authenticate")?.contains("error=\"invalid_token\"") == true)
            }
            let token = try live.require("access_token")
            #expect(try await server.get("/oauth/userinfo", bearer: token).status == 200)
            try await world.change("users", world.user, ["disabled": true])
            #expect(try await server.get("/oauth/userinfo", bearer: token).status == 401)
        }
    }

    @Test(
        "A client with userinfo_signed_response_alg gets userinfo as a JWT signed with that algorithm",
        arguments: Backend.available)
    func signed(backend: Backend) async throws {
        try await World.with(backend) { world in
            for algorithm in ["RS256", "ES256"] {
                let client = try await world.relyingClient(["userinfo_signed_response_alg": .string(algorithm)])
                let token = try await world.signIn(scope: "openid email", with: client).require("access_token")
                let answer = try await world.server.get("/oauth/userinfo", bearer: token)
                #expect(answer.status == 200)
                #expect(answer.header("content-type") == "application/jwt")
                #expect(answer.header("cache-control") == "no-store")
                let jwt = try await world.published(answer.body)
                #expect(jwt.header["alg"]?.string == algorithm)
                let expected: JSON = [
                    "iss": "http://spindle.test", "aud": .string(client.id), "sub": .string(world.user),
                    "email": .string(World.email), "email_verified": false,
                ]
                #expect(jwt.claims == expected)
                // Refusals are not signed, and without the algorithm the answer is plain again.
                #expect(try await world.server.get("/oauth/userinfo", bearer: "nonsense").error == "invalid_token")
                try await world.change("clients", client.id, ["userinfo_signed_response_alg": .null])
                #expect(try await world.server.get("/oauth/userinfo", bearer: token).json["sub"] != nil)
            }
        }
    }
}
