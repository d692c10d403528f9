import Cryptography
import Foundation
import JOSE
import JSON
import TestSupport
import Testing
import Values

/// A client of the conformance suite with one response type and one response mode. It makes the checks that the suite
/// makes in every module.
struct ConformanceParty {
    static let callback = "https://suite.example/test/a/spindle/callback"

    let world: World
    let client: World.Actor
    let second: World.Actor
    let type: String
    let mode: String?
    var browser: Browser

    struct Undelivered: Error { let member: String, values: [String: String] }

    /// The authorization response.
    struct Delivery {
        let answer: Answer
        let values: [String: String]

        subscript(name: String) -> String? { values[name] }
        func require(_ name: String) throws -> String {
            guard let value = values[name] else { throw Undelivered(member: name, values: values) }
            return value
        }
    }

    /// Registers at `world`, with the second client that the suite needs for tokens bound to the first.
    init(_ world: World, type: String, mode: String? = nil, _ changes: KeyValuePairs<String, JSON> = [:]) async throws {
        let common: KeyValuePairs<String, JSON> = [
            "redirect_uris": [.string(Self.callback)], "response_types": [.string(type)],
            "grant_types": ["authorization_code", "implicit", "refresh_token"],
            "scope": "openid profile email address phone offline_access",
        ]
        func registered() async throws -> World.Actor {
            let changed = Set(changes.map(\.key))
            let members =
                common.filter { !changed.contains($0.key) }.map { ($0.key, $0.value) }
                + changes.map { ($0.key, $0.value) }
            return try await World.client(
                world.server, world.admin,
                .object([JSON.Member("merchant_id", .string(world.merchant))] + members.map { JSON.Member($0.0, $0.1) })
            )
        }
        self.world = world
        client = try await registered()
        second = try await registered()
        self.type = type
        self.mode = mode
        browser = Browser(world.server)
    }

    var words: Set<String> { Set(type.split(separator: " ").map(String.init)) }
    var hasCode: Bool { words.contains("code") }
    var hasToken: Bool { words.contains("token") }
    var hasIDToken: Bool { words.contains("id_token") }

    /// The address of an authorization request, with `changes` over its valid parameters; one changed to an empty text
    /// is left out.
    func address(_ changes: KeyValuePairs<String, String> = [:]) -> String {
        "/oauth/authorize?"
            + parameters(changes).map { "\($0.0)=\(TestServer.encode($0.1))" }.joined(separator: "&")
    }

    func parameters(_ changes: KeyValuePairs<String, String> = [:]) -> [(String, String)] {
        var items = [
            ("response_type", type), ("client_id", client.id), ("redirect_uri", Self.callback), ("scope", "openid"),
            ("state", "some state"),
        ]
        if type != "code" { items.append(("nonce", "some nonce")) }
        if let mode { items.append(("response_mode", mode)) }
        for (name, value) in changes {
            items.removeAll { $0.0 == name }
            if !value.isEmpty { items.append((name, value)) }
        }
        return items
    }

    /// Sends a request, signs in if asked to, and checks how the response is transferred.
    mutating func authorize(_ changes: KeyValuePairs<String, String> = [:]) async throws -> Delivery {
        var page = try await browser.open(address(changes))
        if page.status == 303, let way = page.header("location") { page = try await browser.open(way) }
        return try await finish(page, changes)
    }

    /// Signs in at `page`, if it is the login page.
    mutating func finish(_ page: Answer, _ changes: KeyValuePairs<String, String> = [:]) async throws -> Delivery {
        guard page.status == 200, page.formAction == "/login" else { return try deliver(page, changes) }
        let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
        return try deliver(try await browser.open(signedIn.header("location") ?? "/nowhere"), changes)
    }

    /// Reads a response from where its mode says, and nowhere else. Checks state and issuer.
    func deliver(_ answer: Answer, _ changes: KeyValuePairs<String, String> = [:]) throws -> Delivery {
        let delivery: Delivery
        if mode == "form_post" {
            #expect(answer.status == 200)
            #expect(answer.formAction == Self.callback)
            #expect(answer.header("location") == nil)
            delivery = Delivery(answer: answer, values: answer.fields)
        } else {
            let mark = type == "code" ? "?" : "#"
            let location = answer.header("location") ?? ""
            #expect(answer.status == 302, "\(answer)")
            #expect(location.hasPrefix(Self.callback + mark), "\(location)")
            delivery = Delivery(answer: answer, values: Self.values(location.dropFirst(Self.callback.utf8.count + 1)))
        }
        #expect(delivery["state"] == "some state")
        #expect(delivery["iss"] == "http://spindle.test")
        return delivery
    }

    private static func values(_ text: Substring) -> [String: String] {
        var values: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            values[halves[0]] = halves.last?.removingPercentEncoding
        }
        return values
    }

    /// Redeems a code.
    func redeem(_ code: String, as other: World.Actor? = nil, verifier: String? = nil) async throws -> Answer {
        var form = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Self.callback)]
        if let verifier { form.append(("code_verifier", verifier)) }
        return try await world.server.post("/oauth/token", form: form, basic: (other ?? client).basic)
    }

    func userinfo(_ token: String) async throws -> Answer {
        try await world.server.get("/oauth/userinfo", bearer: token)
    }
}

extension ConformanceParty {
    /// The registration for the module with credentials in the body.
    static let secretPost: KeyValuePairs<String, JSON> = ["token_endpoint_auth_method": "client_secret_post"]

    /// Registers at a new server and runs one module there.
    static func run(
        _ type: String, mode: String? = nil, on backend: Backend = .sqlite,
        _ changes: KeyValuePairs<String, JSON> = [:],
        _ module: (inout ConformanceParty) async throws -> Void
    ) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: type, mode: mode, changes)
            try await module(&party)
        }
    }
}

/// What a relying party has after a complete flow.
struct Outcome {
    let delivery: ConformanceParty.Delivery
    /// The claims of each ID token: first that of the authorization response, then that of the token endpoint.
    var ids: [JSON] = []
    var accessToken: String?
    var tokens: Answer?
    var userinfo: JSON?

    /// The claims about the user, if the response type gives any.
    var user: JSON? { userinfo ?? ids.last }
}

extension ConformanceParty {
    /// Runs a complete flow with everything that the suite checks in each: ID tokens, hashes, token response, userinfo.
    @discardableResult
    mutating func flow(_ changes: KeyValuePairs<String, String> = [:]) async throws -> Outcome {
        try await check(try await authorize(changes), changes)
    }

    func check(_ delivery: Delivery, _ changes: KeyValuePairs<String, String> = [:]) async throws -> Outcome {
        var outcome = Outcome(delivery: delivery)
        let nonce = parameters(changes).first { $0.0 == "nonce" }?.1
        #expect(delivery["error"] == nil, "\(delivery.values)")
        #expect((delivery["code"] != nil) == hasCode)
        #expect((delivery["access_token"] != nil) == hasToken)
        #expect((delivery["id_token"] != nil) == hasIDToken)
        if let token = delivery["access_token"] {
            #expect(delivery["token_type"] == "Bearer")
            #expect(delivery["expires_in"].flatMap(Int.init).map { $0 > 0 && $0 <= 31_536_000 } == true)
            outcome.accessToken = token
        }
        if let id = delivery["id_token"] {
            let claims = try await verified(id, nonce: nonce)
            // Core §3.2.2.9, §3.3.2.11: the code and the access token are bound by their hashes.
            #expect(claims["at_hash"]?.string == delivery["access_token"].map(Self.hash))
            #expect(claims["c_hash"]?.string == delivery["code"].map(Self.hash))
            outcome.ids.append(claims)
        }
        if let code = delivery["code"] {
            let verifier = changes.contains { $0.key == "code_challenge" } ? FlowTests.verifier : nil
            try await redeem(code, verifier: verifier, nonce: nonce, into: &outcome)
        }
        if let token = outcome.accessToken, words != ["token"] {
            let userinfo = try await userinfo(token)
            #expect(userinfo.status == 200)
            #expect(userinfo.json["sub"]?.string == outcome.ids.first?["sub"]?.string)
            outcome.userinfo = userinfo.json
        }
        return outcome
    }

    private func redeem(
        _ code: String, verifier: String?, nonce: String?, into outcome: inout Outcome
    ) async throws {
        #expect(code.utf8.count >= 43)
        let tokens = try await redeem(code, verifier: verifier)
        #expect(tokens.status == 200, "\(tokens)")
        #expect(tokens.header("cache-control") == "no-store")
        #expect(tokens.json["token_type"]?.string == "Bearer")
        #expect(tokens.json["expires_in"]?.integer.map { $0 > 0 && $0 <= 31_536_000 } == true)
        let token = try tokens.require("access_token")
        let claims = try await verified(try tokens.require("id_token"), nonce: nonce)
        #expect(claims["at_hash"]?.string == Self.hash(token))
        for earlier in outcome.ids {
            #expect(claims["sub"] == earlier["sub"])
            #expect(claims["iss"] == earlier["iss"])
        }
        outcome.ids.append(claims)
        outcome.tokens = tokens
        outcome.accessToken = token
    }

    /// The claims of an ID token that the published keys verify, after the standard checks.
    func verified(_ token: String, nonce: String?) async throws -> JSON {
        let keySet = try await world.server.get("/oauth/jwks").body
        let jwt = try await AssertionKeys(keySet: keySet).verify(token, allowed: [.rs256])
        let claims = jwt.claims
        let now = world.server.clock.now.seconds
        #expect(jwt.header["kid"]?.string?.isEmpty == false)
        #expect(claims["iss"]?.string == "http://spindle.test")
        #expect(claims["aud"]?.string == client.id)
        #expect(claims["azp"]?.string == client.id)
        #expect(claims["exp"]?.integer.map { $0 > now } == true)
        #expect(claims["iat"]?.integer == now)
        #expect(claims["auth_time"]?.integer.map { $0 <= now && now - $0 < 31_536_000 } == true)
        #expect(claims["nonce"]?.string == nonce)
        #expect(claims["sub"]?.string.map { !$0.isEmpty && $0.utf8.count <= 255 } == true)
        #expect(claims["acr"]?.string != "")
        return claims
    }

    private static func hash(_ text: String) -> String {
        Base64URL.encode(Array(Digest.sha256(text.utf8).prefix(16)))
    }

    /// The suite's checks of every error: an expected code, legal characters, and no tokens.
    func expectRefusal(_ delivery: Delivery, _ errors: String...) {
        #expect(errors.contains(delivery["error"] ?? ""), "\(delivery.values)")
        let description = delivery["error_description"] ?? ""
        #expect(description.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        for name in ["code", "access_token", "id_token"] { #expect(delivery[name] == nil) }
    }
}
