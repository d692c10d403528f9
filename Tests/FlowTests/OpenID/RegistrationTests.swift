import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Clients that register themselves (RFC 7591)")
struct RegistrationTests {
    @Test(
        "The answer to a registration has the client's metadata, with the defaults filled in",
        arguments: Backend.available)
    func told(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register([
                "client_name": "Relying party", "contacts": ["ada@rp.example"], "software_id": "4NRB1-0XZABZI9E6",
                "post_logout_redirect_uris": ["https://rp.example/bye"],
            ])
            let json = made.answer.json
            #expect(made.answer.header("cache-control") == "no-store")
            #expect(json["client_name"] == "Relying party" && json["contacts"] == ["ada@rp.example"])
            #expect(json["redirect_uris"] == [.string(World.returnURI)])
            #expect(json["post_logout_redirect_uris"] == ["https://rp.example/bye"])
            #expect(json["grant_types"] == ["authorization_code"] && json["response_types"] == ["code"])
            #expect(json["token_endpoint_auth_method"] == "client_secret_basic")
            #expect(json["application_type"] == "web" && json["subject_type"] == "public")
            #expect(json["scope"] == "openid profile email address phone offline_access")
            #expect(json["id_token_signed_response_alg"] == "RS256")
            #expect(json["client_id_issued_at"]?.integer == world.server.clock.now.seconds)
            #expect(json["client_secret_expires_at"] == 0)
            #expect(json["client_secret"]?.string?.count == 43)
            #expect(json["registration_client_uri"]?.string == SigningClient.issuer + made.path)
            for hidden in ["first_party", "merchant_id", "spid_compatible", "sign_secret", "callback_uri"] {
                #expect(json[hidden] == nil, "\(hidden) is not its business")
            }
        }
    }

    @Test("A self-registered client can sign users in, who are asked for consent", arguments: Backend.available)
    func works(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["grant_types": ["authorization_code", "refresh_token"]]).actor
            let tokens = try await world.signInToRegistered(client, ["scope": "openid email offline_access"])
            #expect(tokens.status == 200 && tokens.json["id_token"] != nil)
            let refreshed = try await world.refresh(try tokens.require("refresh_token"), as: client)
            #expect(refreshed.status == 200)
        }
    }

    @Test(
        "A registration has a client secret only if its authentication method uses one", arguments: Backend.available)
    func methods(backend: Backend) async throws {
        try await World.with(backend) { world in
            for method in ["client_secret_basic", "client_secret_post", "client_secret_jwt"] {
                let made = try await world.register(["token_endpoint_auth_method": .string(method)])
                #expect(!made.actor.secret.isEmpty)
            }
            let key = PrivateKey.generate(.es256)
            let signing: KeyValuePairs<String, JSON> = [
                "token_endpoint_auth_method": "private_key_jwt", "jwks": SigningClient.keySet(key),
            ]
            for made in [
                try await world.register(["token_endpoint_auth_method": "none"]), try await world.register(signing),
            ] {
                #expect(made.answer.json["client_secret"] == nil)
                #expect(made.answer.json["client_secret_expires_at"] == nil)
            }
            let public_ = try await world.register(["token_endpoint_auth_method": "none"]).actor
            #expect(try await world.signInToRegistered(public_, ["scope": "openid"]).status == 200)
            let secret = try await world.register(["token_endpoint_auth_method": "client_secret_jwt"]).actor
            let signer = SigningClient(world: world, id: secret.id, key: .secret(secret.secret))
            let told = try await signer.ask(nil, ["token": "x"], at: "/oauth/introspect")
            #expect(told.json["active"] == false)
        }
    }

    @Test("A registration needs a live initial access token of an enabled merchant", arguments: Backend.available)
    func initialTokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let without = try await world.server.send("POST", "/oauth/register", json: ["redirect_uris": []])
            try await expect(401, "invalid_token", without)
            #expect(without.header("www-authenticate") == "Bearer realm=\"spindle\"")
            for wrong in ["x", world.admin, try await world.signIn().require("access_token")] {
                try await expect(401, "invalid_token", try await world.sendRegistration(with: wrong))
            }
            let short = try await world.initialToken(expiresIn: 60)
            #expect(try await world.sendRegistration(with: short).status == 201)
            let inQuery = try await world.server.send(
                "POST", "/oauth/register?oauth_token=\(short)", json: ["redirect_uris": ["https://rp.example/back"]])
            try await expect(401, "invalid_token", inQuery)
            world.server.clock.advance(by: .seconds(60))
            try await expect(401, "invalid_token", try await world.sendRegistration(with: short))

            let day = try await world.initialToken()
            #expect(try await world.sendRegistration(with: day).status == 201)
            try await world.change("merchants", world.merchant, ["disabled": true])
            try await expect(401, "invalid_token", try await world.sendRegistration(with: day))
        }
    }

    static let refused: [(String, KeyValuePairs<String, JSON>)] = [
        ("invalid_redirect_uri", ["redirect_uris": .null]), ("invalid_redirect_uri", ["redirect_uris": []]),
        ("invalid_redirect_uri", ["redirect_uris": ["https://rp.example/#top"]]),
        ("invalid_redirect_uri", ["redirect_uris": ["http://rp.example/back"]]),
        ("invalid_redirect_uri", ["redirect_uris": ["javascript:alert(1)"]]),
        ("invalid_redirect_uri", ["redirect_uris": "https://rp.example/back"]),
        (
            "invalid_redirect_uri",
            ["redirect_uris": ["http://localhost:8000/back"], "response_types": ["id_token"]]
        ),
        ("invalid_redirect_uri", ["redirect_uris": ["rp://back"], "response_types": ["token"]]),
        ("invalid_client_metadata", ["response_types": ["code id_token"], "grant_types": ["authorization_code"]]),
        ("invalid_client_metadata", ["response_types": ["code"], "grant_types": ["implicit"]]),
        ("invalid_client_metadata", ["response_types": ["id_token"], "grant_types": ["refresh_token"]]),
        ("invalid_client_metadata", ["response_types": []]), ("invalid_client_metadata", ["response_types": ["x"]]),
        ("invalid_client_metadata", ["grant_types": ["authorization_code", "password"]]),
        ("invalid_client_metadata", ["grant_types": ["authorization_code", "client_credentials"]]),
        ("invalid_client_metadata", ["scope": "openid admin"]),
        ("invalid_client_metadata", ["scope": "admin:merchant"]), ("invalid_client_metadata", ["scope": "payments"]),
        ("invalid_client_metadata", ["token_endpoint_auth_method": "private_key_jwt"]),
        ("invalid_client_metadata", ["token_endpoint_auth_method": "self_signed_tls_client_auth"]),
        ("invalid_client_metadata", ["id_token_signed_response_alg": "none"]),
        ("invalid_client_metadata", ["id_token_signed_response_alg": "HS256"]),
        ("invalid_client_metadata", ["userinfo_signed_response_alg": "none"]),
        ("invalid_client_metadata", ["jwks": ["keys": []]]), ("invalid_client_metadata", ["jwks_uri": "rp"]),
        ("invalid_client_metadata", ["logo_uri": "http://rp.example/logo.png"]),
        ("invalid_client_metadata", ["logo_uri": "https://rp.example/l;script-src *"]),
        ("invalid_client_metadata", ["policy_uri": "javascript:alert(1)"]),
        ("invalid_client_metadata", ["tos_uri": "data:text/html,x"]),
        ("invalid_client_metadata", ["initiate_login_uri": "http://rp.example/login"]),
        ("invalid_client_metadata", ["initiate_login_uri": "http://localhost/login"]),
        ("invalid_client_metadata", ["initiate_login_uri": "http://127.0.0.1:8080/login"]),
        ("invalid_client_metadata", ["application_type": "service"]),
        ("invalid_client_metadata", ["client_name": ["a", "b"]]),
        ("invalid_client_metadata", ["subject_type": "ephemeral"]),
        (
            "invalid_client_metadata",
            ["subject_type": "pairwise", "redirect_uris": ["https://a.example/", "https://b.example/"]]
        ),
        ("unapproved_software_statement", ["software_statement": "eyJhbGciOiJub25lIn0.e30."]),
    ]

    @Test("An invalid registration is refused with the errors of RFC 7591 §3.2.2")
    func refusals() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.initialToken()
            for (error, changes) in Self.refused {
                try await expect(400, error, try await world.sendRegistration(changes, with: token), "\(changes)")
            }
            #expect(
                try await world.server.database.read { db in
                    try db.rows("SELECT id FROM clients WHERE registration_token IS NOT NULL").isEmpty
                })
        }
    }

    @Test("A registration that is no JSON object, has another media type, or is too large is refused")
    func bodies() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.initialToken()
            func send(_ body: String, _ type: String = "application/json") async throws -> Answer {
                try await world.server.send(
                    "POST", "/oauth/register", body: Array(body.utf8), bearer: token,
                    headers: ["Content-Type": type])
            }
            for body in ["", "[]", "{", #"{"redirect_uris":["#] {
                try await expect(400, "invalid_client_metadata", try await send(body))
            }
            try await expect(
                400, "invalid_client_metadata",
                try await send("redirect_uris=x", "application/x-www-form-urlencoded"))
            let large = #"{"client_name":""# + String(repeating: "a", count: 70000) + "\"}"
            #expect(try await send(large).status == 413)
        }
    }

    @Test(
        "Members that a client may not set, and unknown ones, are ignored in a registration",
        arguments: Backend.available)
    func ignored(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register([
                "first_party": true, "spid_compatible": true, "merchant_id": .string(world.rival),
                "client_id": "chosen", "client_secret": "chosen", "callback_uri": "https://rp.example/callback",
                "web_origins": ["https://rp.example"], "access_token_lifetime": 31_536_000, "disabled": true,
                "resources": ["https://api.example"], "access_token_format": "jwt", "colour": ["any": "thing"],
                "refresh_family_lifetime": "while_used", "exchange_front_channel_tokens": true,
            ])
            #expect(made.id != "chosen" && made.actor.secret != "chosen")
            let shown = try await world.server.get("/admin/v1/clients/\(made.id)", bearer: world.admin).json
            #expect(shown["first_party"] == false && shown["spid_compatible"] == false)
            #expect(shown["merchant_id"]?.string == world.merchant && shown["disabled"] == false)
            #expect(shown["callback_uri"] == nil && shown["web_origins"] == [] && shown["resources"] == nil)
            #expect(shown["access_token_lifetime"] == 3600 && shown["access_token_format"] == "opaque")
            #expect(shown["refresh_family_lifetime"] == 31_536_000 && shown["exchange_front_channel_tokens"] == nil)
        }
    }

    @Test("A client's response types imply its grant types; the token endpoint refuses the grant implicit")
    func implicit() async throws {
        try await World.with(.sqlite) { world in
            let made = try await world.register(["response_types": ["code id_token", "id_token"]])
            #expect(made.answer.json["grant_types"] == ["authorization_code", "implicit"])
            #expect(made.answer.json["response_types"] == ["id_token", "code id_token"])
            let token = try await world.token(["grant_type": "implicit"], as: made.actor)
            try await expect(400, "unsupported_grant_type", token)
        }
    }

    @Test(
        "A self-registered client gets no front-channel access token unless the operator allows it",
        arguments: Backend.available)
    func frontChannel(backend: Backend) async throws {
        let types: [String] = ["token", "code token", "id_token token", "code id_token token"]
        try await World.with(backend) { world in
            let token = try await world.initialToken()
            let made = try await world.register()
            for type in types {
                let refused = try await world.sendRegistration(["response_types": [.string(type)]], with: token)
                try await expect(400, "invalid_client_metadata", refused, type)
                let changed = try await made.send("PUT", made.update(["response_types": [.string(type)]]))
                try await expect(400, "invalid_client_metadata", changed, type)
                // The row may be from administration, or from before the setting changed.
                let grants: JSON = ["authorization_code", "implicit"]
                try await world.change(
                    "clients", made.id, ["response_types": [.string(type)], "grant_types": grants])
                let address = world.authorizeAddress(
                    ["response_type": type, "nonce": "n", "scope": "openid"], for: made.actor)
                let answer = try await world.server.get(address)
                #expect(answer.header("location")?.contains("access_token") != true && !answer.body.contains("/login"))
                #expect(world.server.log.says("reason=front_channel_token"), "\(type)")
            }
        }
        try await World.with(backend, settings: ["unsafe_front_channel_tokens": "true"]) { world in
            for type in types {
                let made = try await world.register(["response_types": [.string(type)]])
                #expect(made.answer.json["response_types"] == [.string(type)])
            }
        }
    }

    @Test(
        "Tokens of a registration are stored as fingerprints, and neither they nor the secret are logged",
        arguments: Backend.available)
    func secrets(backend: Backend) async throws {
        try await World.with(backend) { world in
            let initial = try await world.initialToken()
            let answer = try await world.sendRegistration(with: initial)
            let made = Registered(answer: answer, world: world)
            #expect(try await made.send("GET").status == 200)
            let stored = try await world.server.database.read { db in
                try db.rows(
                    """
                    SELECT c.registration_token, t.fingerprint FROM clients c
                    JOIN initial_access_tokens t ON t.merchant_id = c.merchant_id WHERE c.id = \(made.id)
                    """
                ).map {
                    [try $0.get("registration_token", as: String.self), try $0.get("fingerprint", as: String.self)]
                }
            }
            #expect(stored == [[Secret<World>(made.token).fingerprint.text, Secret<World>(initial).fingerprint.text]])
            for secret in [initial, made.token, made.actor.secret] { #expect(!world.server.log.says(secret)) }
        }
    }

    @Test(
        "A client whose grant type implicit an administrator removed is refused the response type id_token",
        arguments: Backend.available)
    func implicitTaken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["response_types": ["code", "id_token"]]).actor
            let address = world.authorizeAddress(
                ["response_type": "id_token", "scope": "openid", "nonce": "n"], for: client)
            #expect(try await world.server.get(address).status == 200)
            try await world.change("clients", client.id, ["grant_types": ["authorization_code"]])
            let refused = try await world.server.get(address)
            #expect(refused.status == 400 && refused.body.contains("unauthorized_client"), "\(refused)")
        }
    }

    @Test(
        "A client whose whole scope an administrator removed may repeat its registration but not widen it",
        arguments: Backend.available)
    func scopeTaken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register(["scope": "openid email"])
            #expect(try await world.change("clients", made.id, ["scope": ""]).status == 200)
            let shown = Registered(answer: try await made.send("GET"), world: world)
            #expect(shown.answer.json["scope"] == "", "\(shown.answer)")
            let kept = try await shown.send("PUT", shown.update())
            #expect(kept.status == 200 && kept.json["scope"] == "", "\(kept)")
            #expect(try await shown.send("PUT", shown.update(["scope": "openid"])).status == 400)
        }
    }
}
