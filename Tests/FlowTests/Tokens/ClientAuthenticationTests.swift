import Foundation
import JSON
import TestSupport
import Testing

@Suite("A request authenticates its client (RFC 6749 §2.3)")
struct ClientAuthenticationTests {
    @Test(
        "A client may send its secret by Basic or in the body, whichever method it registered",
        arguments: Backend.available)
    func carriers(backend: Backend) async throws {
        try await World.with(backend) { world in
            for method in ["client_secret_basic", "client_secret_post"] {
                let client = try await world.confidential(["token_endpoint_auth_method": .string(method)])
                let basic = try await world.server.post(
                    "/oauth/token", ["grant_type": "client_credentials"], basic: client.basic)
                #expect(basic.status == 200)
                let body = try await world.server.post(
                    "/oauth/token",
                    ["grant_type": "client_credentials", "client_id": client.id, "client_secret": client.secret])
                #expect(body.status == 200)
            }
        }
    }

    @Test(
        "Inside Basic a client's id and secret are read form-encoded, and a bad escape is refused",
        arguments: Backend.available)
    func formEncoded(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (id, secret) = (world.backend.id, world.backend.secret)
            for (pair, status) in [
                ("\(escaped(id)):\(escaped(secret))", 200), ("\(id):\(secret)", 200), ("\(id):%zz", 401),
            ] {
                let answer = try await basic(world, pair)
                #expect(answer.status == status)
            }
        }
    }

    @Test("Malformed Basic credentials are refused with a challenge", arguments: Backend.available)
    func malformedBasic(backend: Backend) async throws {
        try await World.with(backend) { world in
            let pair = Data("\(world.backend.id):\(world.backend.secret)".utf8).base64EncodedString()
            for header in [
                "Basic", "Basic ", "Basic !!!", "Basic \(Data("nocolon".utf8).base64EncodedString())",
                "Basic \(Data(":secret".utf8).base64EncodedString())", "Basic \(pair) x",
                "Basic \(Data([0xFF, 0x3A, 0xFF]).base64EncodedString())", "Bearer \(world.admin)", "Digest x",
            ] {
                let answer = try await world.server.post(
                    "/oauth/token", ["grant_type": "client_credentials"], headers: ["Authorization": header])
                try await expect(401, "invalid_client", answer, header)
                #expect(answer.header("www-authenticate") == "Basic realm=\"spindle\"")
            }
            let lower = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credentials"], headers: ["Authorization": "basic \(pair)"])
            #expect(lower.status == 200)
        }
    }

    @Test(
        "Any number of blanks may stand between an authorization scheme and its credentials (RFC 9110 §11.4)",
        arguments: Backend.available)
    func blanks(backend: Backend) async throws {
        try await World.with(backend, settings: ["basic_realm": "Loom"]) { world in
            func base64(_ pair: String) -> String { Data(pair.utf8).base64EncodedString() }
            let client = base64("\(world.backend.id):\(world.backend.secret)")
            let user = base64("\(World.email):\(World.password)")
            let token = try await world.signIn().require("access_token")
            for blanks in [" ", "  ", "     "] {
                let proved = try await world.server.post(
                    "/oauth/token", ["grant_type": "client_credentials"],
                    headers: ["Authorization": "Basic\(blanks)\(client)"])
                #expect(proved.status == 200, "\(proved)")
                for credentials in ["Basic\(blanks)\(user)", "Bearer\(blanks)\(token)"] {
                    let read = try await world.server.get("/me", headers: ["Authorization": credentials])
                    #expect(read.status == 200, "\(credentials.prefix(8)) \(read)")
                }
            }
            for wrong in ["Basic\(client)", "Basic\t\(client)", "Basic \(client) \(client)"] {
                let refused = try await world.server.post(
                    "/oauth/token", ["grant_type": "client_credentials"], headers: ["Authorization": wrong])
                try await expect(401, "invalid_client", refused, wrong)
            }
            for wrong in ["Bearer\(token)", "Bearer\t\(token)", "Bearer \(token) \(token)"] {
                #expect(try await world.server.get("/me", headers: ["Authorization": wrong]).status == 401, "\(wrong)")
            }
        }
    }

    @Test("A client that sent no Authorization header gets no WWW-Authenticate challenge", arguments: Backend.available)
    func challenges(backend: Backend) async throws {
        try await World.with(backend) { world in
            let inBody = ["client_id": world.backend.id, "client_secret": "a guess"]
            for path in ["/oauth/token", "/oauth/introspect", "/oauth/revoke"] {
                let form = ["grant_type": "client_credentials", "token": "x"]
                for credentials in [inBody, ["client_id": "nobody"], [:], ["client_assertion": "x"]] {
                    let answer = try await world.server.post(
                        path, form: form.merging(credentials) { $1 }.sorted { $0.key < $1.key })
                    try await expect(401, "invalid_client", answer, "\(path) \(credentials)")
                    #expect(answer.header("www-authenticate") == nil, "\(path) \(credentials)")
                }
                let tried = try await world.server.post(
                    path, ["grant_type": "client_credentials", "token": "x"],
                    basic: world.backend.with(secret: "a guess").basic)
                #expect(tried.status == 401 && tried.header("www-authenticate") == "Basic realm=\"spindle\"")
            }
            let json = try await world.server.send(
                "POST", "/oauth/token", json: ["grant_type": "client_credentials", "client_id": "nobody"])
            #expect(json.status == 401 && json.header("www-authenticate") == nil)
        }
    }

    @Test("Two authentication methods at once are refused, even if both are right", arguments: Backend.available)
    func twice(backend: Backend) async throws {
        try await World.with(backend) { world in
            let both = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credentials", "client_secret": world.backend.secret],
                basic: world.backend.basic)
            try await expect(400, "invalid_request", both)
            let other = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credentials", "client_id": world.app.id],
                basic: world.backend.basic)
            try await expect(400, "invalid_request", other)
            let same = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credentials", "client_id": world.backend.id],
                basic: world.backend.basic)
            #expect(same.status == 200)
        }
    }

    @Test(
        "An unknown or disabled client and a wrong, missing or unexpected secret get the same answer",
        arguments: Backend.available)
    func alike(backend: Backend) async throws {
        try await World.with(backend) { world in
            let off = try await world.confidential([:])
            try await world.change("clients", off.id, ["disabled": true])
            var bodies: Set<String> = []
            for client in [
                World.Actor(id: "nobody", secret: "secret", redirectURI: ""), world.backend.with(secret: "guess"),
                world.backend.with(secret: ""), world.backend.with(secret: world.rivalBackend.secret),
                world.app.with(secret: "public"), off, World.Actor(id: "no%00body", secret: "s", redirectURI: ""),
            ] {
                let answer = try await world.token(["grant_type": "client_credentials"], as: client)
                try await expect(401, "invalid_client", answer, client.id)
                bodies.insert(answer.body)
            }
            #expect(bodies.count == 1)
        }
    }

    @Test(
        "Administration shows no existing secret of a client, in the client, the lists or its secrets",
        arguments: Backend.available)
    func toldOnce(backend: Backend) async throws {
        try await World.with(backend) { world in
            let shown = try await world.server.get("/admin/v1/clients/\(world.backend.id)", bearer: world.admin)
            let listed = try await world.server.get("/admin/v1/clients", bearer: world.admin)
            let secrets = try await world.server.get(
                "/admin/v1/clients/\(world.backend.id)/secrets", bearer: world.admin)
            for answer in [shown, listed, secrets] {
                #expect(answer.status == 200)
                #expect(!answer.body.contains(world.backend.secret))
                #expect(!answer.body.contains("client_secret\""))
                #expect(!answer.body.contains("sign_secret"))
            }
        }
    }

    private func basic(_ world: World, _ pair: String) async throws -> Answer {
        try await world.server.post(
            "/oauth/token", ["grant_type": "client_credentials"],
            headers: ["Authorization": "Basic \(Data(pair.utf8).base64EncodedString())"])
    }

    /// Every byte as an escape.
    private func escaped(_ text: String) -> String {
        text.utf8.map { String(format: "%%%02X", $0) }.joined()
    }
}
