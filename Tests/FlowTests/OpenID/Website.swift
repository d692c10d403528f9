import Cryptography
import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values

/// A website that signs users in and out by OpenID Connect.
struct Website {
    static let bye = "https://site.example/bye"

    let actor: World.Actor
    let world: World

    /// Signs Ada in in `browser`, or uses her session there. Returns the token response.
    func signIn(in browser: inout Browser, scope: String = "openid") async throws -> Answer {
        let answer = try await world.authorize(in: &browser, ["scope": scope, "nonce": "n-1"], for: actor)
        return try await world.redeemAuthorization(try answer.requireRedirected("code"), as: actor)
    }

    /// The error that the site gets when it asks, without user interaction, whether a user is signed in.
    func silentError(in browser: inout Browser) async throws -> String? {
        try await browser.open(world.authorizeAddress(["scope": "openid", "prompt": "none"], for: actor))
            .redirected("error")
    }
}

extension World {
    func website(_ changes: KeyValuePairs<String, JSON> = [:]) async throws -> Website {
        let members: [(String, JSON)] = [
            ("client_name", "Site"), ("redirect_uris", ["https://site.example/back"]),
            ("post_logout_redirect_uris", [.string(Website.bye)]),
            ("grant_types", ["authorization_code", "refresh_token"]),
            ("scope", "openid profile email offline_access"), ("token_endpoint_auth_method", "client_secret_basic"),
            ("merchant_id", .string(merchant)),
        ]
        let changed = Set(changes.map(\.key))
        let all = members.filter { !changed.contains($0.0) } + changes.map { ($0.key, $0.value) }
        return Website(
            actor: try await Self.client(server, admin, .object(all.map { .init($0.0, $0.1) })), world: self)
    }

    /// The JWT, if the published keys verify it.
    func verified(_ jwt: String) async throws -> VerifiedJWT {
        let keys = try AssertionKeys(keySet: try await server.get("/oauth/jwks").body)
        return try await keys.verify(jwt, allowed: [.rs256, .es256, .ps256, .edDSA])
    }
}

extension Browser {
    /// Follows a link of another site to the logout.
    mutating func logOut(_ parameters: KeyValuePairs<String, String>, at path: String = "/logout") async throws
        -> Answer
    {
        let query = parameters.map { "\($0.key)=\(TestServer.encode($0.value))" }.joined(separator: "&")
        return try await open(
            query.isEmpty ? path : "\(path)?\(query)",
            headers: ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"])
    }
}

/// The parts of a JWT, to make other JWTs of them.
struct TakenApart {
    let header: JSON
    let claims: JSON
    let signature: String

    init(_ jwt: String) throws {
        let parts = jwt.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        header = try JSON(parsing: try #require(Base64URL.decode(parts[0])))
        claims = try JSON(parsing: try #require(Base64URL.decode(parts[1])))
        signature = parts[2]
    }

    /// The same claims without a signature.
    var unsigned: String {
        ["{\"alg\":\"none\"}", claims.text].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".") + "."
    }

    /// The same claims with `changes` over them, signed by another key under this server's key id.
    func forged(_ changes: KeyValuePairs<String, JSON> = [:], type: String = "JWT") -> String {
        let changed = Set(changes.map(\.key))
        let members =
            (claims.members ?? []).filter { !changed.contains($0.name) } + changes.map { .init($0.key, $0.value) }
        return CompactJWS.sign(
            .object(members), type: type, key: PrivateKey.generate(.rs256), keyID: header["kid"]?.string ?? "")
    }
}

extension World {
    /// A JWT of this server, verified with its published keys.
    func published(_ jwt: String) async throws -> VerifiedJWT {
        let keys = try AssertionKeys(keySet: try await server.get("/oauth/jwks").body)
        return try await keys.verify(jwt, allowed: Set(SignatureAlgorithm.allCases.filter { !$0.isSymmetric }))
    }

    /// The claims of the ID token in a token response.
    func idToken(in answer: Answer) async throws -> JSON {
        try await published(try answer.require("id_token")).claims
    }

    /// A confidential client of Loom for OpenID, with `changes` over its registration.
    func relyingClient(_ changes: KeyValuePairs<String, JSON> = [:]) async throws -> Actor {
        let client = try await confidential(["scope": "openid profile email address phone"])
        guard !changes.isEmpty else { return client }
        try #require(
            try await change("clients", client.id, .object(changes.map { JSON.Member($0.key, $0.value) })).status == 200
        )
        return client
    }
}

/// A website whose server is told about logouts.
struct NotifiedSite {
    let site: Website
    let path: String
    let receiver: CallbackReceiver

    /// The claims of the next logout token, which must be for this site, checked as the specification requires
    /// (Back-Channel Logout §2.6).
    func next() async throws -> JSON {
        let call = try await receiver.next()
        #expect(call.path == path, "another site was told")
        return try await read(call)
    }

    func read(_ call: CallbackReceiver.Call) async throws -> JSON {
        #expect(call.contentType == "application/x-www-form-urlencoded")
        let prefix = "logout_token="
        try #require(call.body.hasPrefix(prefix) && !call.body.contains("&"))
        let jwt = try await site.world.verified(String(call.body.dropFirst(prefix.count)))
        let now = site.world.server.clock.now
        #expect(jwt.header["typ"]?.string == "logout+jwt")
        #expect(try jwt.issuer == "http://spindle.test")
        #expect(try jwt.audience == [site.actor.id])
        #expect(try jwt.issuedAt == now)
        #expect(try jwt.expiresAt == now + .minutes(2))
        #expect(try jwt.identifier?.isEmpty == false)
        #expect(jwt.claims["nonce"] == nil)
        #expect(jwt.claims["events"]?.text == #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#)
        #expect(
            jwt.claims.members?.map(\.name) == ["iss", "sub", "aud", "iat", "exp", "jti", "events", "sid"])
        return jwt.claims
    }
}

extension World {
    func notified(
        at receiver: CallbackReceiver, _ path: String = "/site", _ changes: KeyValuePairs<String, JSON> = [:]
    ) async throws -> NotifiedSite {
        let site = try await website()
        let uri: JSON = .string("http://127.0.0.1:\(receiver.port)\(path)")
        let members: [JSON.Member] = [.init("backchannel_logout_uri", uri)] + changes.map { .init($0.key, $0.value) }
        try #require(try await change("clients", site.actor.id, .object(members)).status == 200)
        return NotifiedSite(site: site, path: path, receiver: receiver)
    }
}
