import Cryptography
import Foundation
import JOSE
import JSON
import TestSupport
import Testing
import Values

/// What a relying party has after a complete flow.
struct Outcome {
    let delivery: ConformanceParty.Delivery
    /// The claims of each ID token: first that of the authorization response, then that of the token endpoint.
    var ids: [JSON] = []
    var accessToken: String?
    var tokens: Answer?
    var userinfo: JSON?

    /// The claims about the user, if the response type gives any.
    var person: JSON? { userinfo ?? ids.last }
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
