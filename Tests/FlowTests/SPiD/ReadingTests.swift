import Cryptography
import JSON
import TestSupport
import Testing
import Values

@Suite("How SPiD's API reads requests: their order, their carriers, and what SDKs send")
struct ReadingTests {
    private func post(
        _ world: World, _ path: String, _ type: String, _ body: String, bearer: String? = nil
    ) async throws -> Answer {
        try await world.server.send(
            "POST", "/api/2/" + path, body: Array(body.utf8), bearer: bearer,
            headers: ["Content-Type": type])
    }

    private let form = "application/x-www-form-urlencoded"

    @Test("A form without a content type is not read, and is refused unless it is empty")
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

    @Test("A request without a token gets 401 even when it is malformed too", arguments: Backend.available)
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

    @Test("A SPiD client's token in query and body is one token, and equal values are one value")
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
            // Others choose one way (RFC 6750 §2).
            let strict = try await world.signIn().require("access_token")
            let refused = try await world.api("oauth/exchange?oauth_token=\(strict)", nil, ["oauth_token": strict])
            #expect(refused.status == 400)
        }
    }

    @Test("A body sent to an endpoint that reads none is ignored")
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

    @Test("A path with a NUL in a name gets 404", arguments: Backend.available)
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

    @Test("A filter may be repeated in a query, but no parameter that has one value")
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

    @Test("A form of a thousand parameters or more is refused before it is hashed")
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

    @Test("The API's root answers in the container, and a missing token is reported in SPiD's words")
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
}
