import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A client manages its own registration (RFC 7592)")
struct RegistrationManagementTests {
    @Test("A client that reads its own registration does not get its client secret", arguments: Backend.available)
    func read(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register(["client_name": "Relying party"])
            let read = try await made.send("GET")
            #expect(read.status == 200)
            let once: Set = ["client_secret", "client_secret_expires_at"]
            #expect(
                read.json.members?.filter { !once.contains($0.name) }.map(\.name)
                    == made.answer.json.members?.filter { !once.contains($0.name) }.map(\.name))
            #expect(read.json["registration_access_token"]?.string == made.token)
            #expect(read.json["client_secret"] == nil)
        }
    }

    @Test(
        "A self-registered client cannot restore a scope that an administrator removed from it",
        arguments: Backend.available)
    func narrowed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register(["scope": "openid profile email"])
            #expect(try await made.send("PUT", made.update(["scope": "openid email"])).status == 200)
            #expect(try await made.send("PUT", made.update(["scope": "openid email phone"])).status == 200)
            for scope in ["openid email", "openid"] {
                #expect(try await world.change("clients", made.id, ["scope": .string(scope)]).status == 200)
            }
            let refused = try await made.send("PUT", made.update(["scope": "openid email"]))
            #expect(refused.status == 400 && refused.body.contains("administrator"), "\(refused)")
            #expect(try await made.send("PUT", made.update(["scope": "openid"])).status == 200)
            // Sending the scope that the client already has is a choice too.
            let other = try await world.register(["scope": "openid"])
            #expect(try await world.change("clients", other.id, ["scope": "openid"]).status == 200)
            #expect(try await other.send("PUT", other.update(["scope": "openid email"])).status == 400)
            // A change of the name chooses no scope. A wider choice lets the client widen again.
            #expect(try await world.change("clients", made.id, ["client_name": "Other"]).status == 200)
            #expect(try await world.change("clients", made.id, ["scope": "openid email"]).status == 200)
            for scope in ["openid", "openid email"] {
                #expect(try await made.send("PUT", made.update(["scope": .string(scope)])).status == 200)
            }
        }
    }

    @Test(
        "A self-registered client cannot restore a grant type that an administrator removed from it",
        arguments: Backend.available)
    func grants(backend: Backend) async throws {
        try await World.with(backend) { world in
            let both: JSON = ["authorization_code", "refresh_token"]
            let made = try await world.register(["grant_types": both])
            #expect(try await world.change("clients", made.id, ["grant_types": ["authorization_code"]]).status == 200)
            let refused = try await made.send("PUT", made.update(["grant_types": both]))
            #expect(refused.status == 400 && refused.body.contains("administrator"), "\(refused)")
            let kept = try await made.send("PUT", made.update(["grant_types": ["authorization_code"]]))
            #expect(kept.status == 200)
            #expect(try await world.change("clients", made.id, ["grant_types": ["client_credentials"]]).status == 200)
            // Without a list, grant types would follow from the response types.
            let document: JSON = ["client_id": .string(made.id), "redirect_uris": [.string(World.returnURI)]]
            #expect(try await made.send("PUT", document).status == 400)
            #expect(try await world.change("clients", made.id, ["grant_types": both]).status == 200)
            #expect(try await made.send("PUT", made.update(["grant_types": both])).status == 200)
        }
    }

    @Test(
        "A registration update replaces all of the client's metadata, but not its secret",
        arguments: Backend.available)
    func replace(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register([
                "client_name": "Relying party", "logo_uri": "https://rp.example/logo.png", "default_max_age": 60,
                "scope": "openid email",
            ])
            let other: JSON = ["https://rp.example/other"]
            let changed = try await made.send("PUT", ["client_id": .string(made.id), "redirect_uris": other])
            #expect(changed.status == 200, "\(changed)")
            #expect(changed.json["redirect_uris"] == other && changed.json["client_name"] == "Unnamed client")
            #expect(changed.json["logo_uri"] == nil && changed.json["default_max_age"] == nil)
            let same = made.actor
            let introspected = try await world.introspect("x", as: same)
            #expect(introspected.status == 200, "its secret is what it was")
            let again = try await made.send("PUT", made.update(["client_secret": .string(same.secret)]))
            #expect(again.json["logo_uri"] == "https://rp.example/logo.png")
            #expect(again.json["redirect_uris"] == [.string(World.returnURI)])
        }
    }

    @Test(
        "A registration update keeps what an administrator set, and cannot go beyond the given scope",
        arguments: Backend.available)
    func kept(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register()
            let given = try await world.change(
                "clients", made.id,
                [
                    "scope": "openid payments", "require_verified_email": true, "access_token_lifetime": 600,
                    "grant_types": ["authorization_code", "client_credentials"],
                ])
            #expect(given.status == 200)
            let body = made.update([
                "scope": "openid payments", "grant_types": ["authorization_code", "client_credentials"],
            ])
            #expect(try await made.send("PUT", body).status == 200)
            let shown = try await world.server.get("/admin/v1/clients/\(made.id)", bearer: world.admin).json
            #expect(shown["scope"] == "openid payments" && shown["require_verified_email"] == true)
            #expect(shown["access_token_lifetime"] == 600)
            let wider = try await made.send("PUT", made.update(["scope": "openid payments refunds"]))
            try await expect(400, "invalid_client_metadata", wider)
        }
    }

    @Test(
        "A client's registration access token ends for good when the client becomes first-party",
        arguments: Backend.available)
    func promoted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register()
            try await world.change("clients", made.id, ["client_name": "Nearly"])
            #expect(try await made.send("GET").status == 200)
            try await world.change("clients", made.id, ["first_party": true])
            let body = made.update(["redirect_uris": ["https://attacker.example/back"]])
            try await expect(401, "invalid_token", try await made.send("PUT", body))
            for method in ["GET", "DELETE"] { try await expect(401, "invalid_token", try await made.send(method)) }
            let shown = try await world.server.get("/admin/v1/clients/\(made.id)", bearer: world.admin).json
            #expect(shown["redirect_uris"] == [.string(World.returnURI)])
            // The token stays dead when the client is a third party's again.
            try await world.change("clients", made.id, ["first_party": false])
            try await expect(401, "invalid_token", try await made.send("PUT", body))
        }
    }

    @Test(
        "A merchant's administrator cannot make a self-registered client first-party once users have used it",
        arguments: Backend.available)
    func adopted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let (used, unused) = (try await world.register(), try await world.register())
            try await world.server.database.write { db in
                _ = try db.execute(
                    """
                    INSERT INTO connections (user_id, client_id, created_at)
                    VALUES (\(try #require(UserID(world.user))), \(used.id), \(1))
                    """)
            }
            func adopt(_ id: String, by token: String) async throws -> Answer {
                try await world.server.send(
                    "PATCH", "/admin/v1/clients/\(id)", json: ["first_party": true], bearer: token)
            }
            expectProblem(try await adopt(used.id, by: own), 409, member: "first_party")
            #expect(try await used.send("GET").status == 200)
            #expect(try await adopt(unused.id, by: own).status == 200)
            #expect(try await adopt(used.id, by: world.admin).status == 200)
        }
    }

    @Test(
        "A merchant's administrator cannot add a secret, an address or a grant to a self-registered client",
        arguments: Backend.available)
    func secrets(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let stranger = try await world.register()
            let path = "/admin/v1/clients/\(stranger.id)"
            let changes: [JSON] = [
                ["spid_compatible": true], ["grant_types": ["authorization_code", "client_credentials"]],
                ["callback_uri": "https://loom.example/told"], ["redirect_uris": ["https://loom.example/in"]],
                ["backchannel_logout_uri": "https://loom.example/told"], ["disabled": false, "client_name": "Ours"],
            ]
            for change in changes {
                expectProblem(try await world.server.send("PATCH", path, json: change, bearer: own), 409)
            }
            expectProblem(try await world.server.send("POST", path + "/secrets", json: [:], bearer: own), 409)
            let secret = try await world.server.get(path + "/secrets", bearer: own).json["items"]?.array?.first
            let id = try #require(secret?["id"]?.string)
            expectProblem(try await world.server.send("DELETE", path + "/secrets/\(id)", bearer: own), 409)
            #expect(
                try await world.server.send("PATCH", path, json: ["scope": "openid"], bearer: own).status == 200)
            #expect(try await stranger.send("GET").status == 200)
            #expect(
                try await world.server.send("POST", path + "/secrets", json: [:], bearer: world.admin).status == 201)
            #expect(
                try await world.server.send("PATCH", path, json: ["disabled": true], bearer: own).status == 200)
            #expect(try await world.server.send("DELETE", path, bearer: own).status == 204)
        }
    }

    @Test("A registration update with a missing, forbidden or invalid member is refused and changes nothing")
    func refused() async throws {
        try await World.with(.sqlite) { world in
            let made = try await world.register(["client_name": "Relying party"])
            for changes: KeyValuePairs<String, JSON> in [
                ["client_id": .null], ["client_id": "another"], ["client_secret": "chosen"],
                ["registration_access_token": .string(made.token)], ["client_secret_expires_at": 0],
                ["registration_client_uri": "x"], ["client_id_issued_at": 1],
                ["token_endpoint_auth_method": "none"], ["scope": "admin"],
            ] {
                let answer = try await made.send("PUT", made.update(changes))
                try await expect(400, "invalid_client_metadata", answer, "\(changes)")
            }
            let frag = try await made.send("PUT", made.update(["redirect_uris": ["https://rp.example/#x"]]))
            try await expect(400, "invalid_redirect_uri", frag)
            let statement = try await made.send("PUT", made.update(["software_statement": "x.y.z"]))
            try await expect(400, "unapproved_software_statement", statement)
            #expect(try await made.send("GET").json["client_name"] == "Relying party")
        }
    }

    @Test("A client, even one that authenticates by HMAC, cannot choose its own secret")
    func signing() async throws {
        try await World.with(.sqlite) { world in
            let made = try await world.register(["token_endpoint_auth_method": "client_secret_jwt"])
            #expect(try await made.send("PUT", made.update()).status == 200)
            let other = try await made.send("PUT", made.update(["client_secret": "chosen"]))
            try await expect(400, "invalid_client_metadata", other)
        }
    }

    @Test(
        "A client that deletes its registration loses its access tokens and its registration access token",
        arguments: Backend.available)
    func delete(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register()
            let tokens = try await world.signInToRegistered(made.actor, ["scope": "openid"])
            let token = try tokens.require("access_token")
            #expect(try await world.isLive(token))
            let deleted = try await made.send("DELETE")
            #expect(deleted.status == 204 && deleted.body.isEmpty)
            #expect(try await !world.isLive(token))
            for method in ["GET", "DELETE"] { try await expect(401, "invalid_token", try await made.send(method)) }
            try await expect(401, "invalid_token", try await made.send("PUT", made.update()))
        }
    }

    @Test(
        "A registration is read, changed and deleted only with its client's live registration access token",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (made, other) = (try await world.register(), try await world.register())
            let app = Registered(answer: other.answer, world: world)
            for token in [other.token, "x", world.admin, made.actor.secret] {
                for method in ["GET", "DELETE"] {
                    try await expect(401, "invalid_token", try await made.send(method, token: token))
                }
                try await expect(401, "invalid_token", try await made.send("PUT", made.update(), token: token))
            }
            let without = try await world.server.get(made.path)
            try await expect(401, "invalid_token", without)
            // A client that administration made has no registration token.
            let administered = try await world.server.get("/oauth/register/\(world.app.id)", bearer: app.token)
            try await expect(401, "invalid_token", administered)
            let unknown = try await world.server.get("/oauth/register/nobody", bearer: app.token)
            try await expect(401, "invalid_token", unknown)
            try await world.change("clients", made.id, ["disabled": true])
            try await expect(401, "invalid_token", try await made.send("GET"))
        }
    }

    @Test(
        "An administrator who sets a client's scope or grant_types to null lets the client widen them",
        arguments: Backend.available)
    func nullChoice(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let cases: [(token: String, change: JSON)] = [
                (own, ["scope": .null]), (world.admin, ["scope": .null, "grant_types": .null]),
            ]
            for (token, change) in cases {
                let made = try await world.register(["scope": "openid", "grant_types": ["authorization_code"]])
                let changed = try await world.server.send(
                    "PATCH", "/admin/v1/clients/\(made.id)", json: change, bearer: token)
                #expect(changed.status == 200, "\(changed)")
                let wider = try await made.send(
                    "PUT",
                    made.update(["scope": "openid email", "grant_types": ["authorization_code", "refresh_token"]]))
                #expect(wider.status == 200 && wider.json["scope"] == "openid email", "\(wider)")
            }
        }
    }
}
