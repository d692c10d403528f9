import Cryptography
import JOSE
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values
@testable import Federation

@Suite("Claims and signatures of an assertion") struct AssertionTests {
    private let signer = Signer()

    // MARK: Claims

    @Test("Each invalid claim of an assertion is refused with its reason; its times count to the second")
    func claims() async throws {
        let fixture = try await JWTBearerFixture(.sqlite)
        try await fixture.trust(signer, ["create_users": true, "audiences": .array(["spindle"])])
        let now = fixture.clock.now.seconds
        let day: Int64 = 24 * 3600
        let cases: [(KeyValuePairs<String, JSON>, String?)] = [
            (["iss": .null], "assertion_of_unknown_issuer"), (["iss": 1], "assertion_of_unknown_issuer"),
            (["iss": "https://issuer.example/"], "assertion_of_unknown_issuer"),
            (["iss": "https://issuer.example\0"], "assertion_of_unknown_issuer"),
            (["sub": .null], "assertion_subject"), (["sub": ""], "assertion_subject"),
            (["sub": .string(String(repeating: "å", count: 255))], nil),
            (["sub": .string(String(repeating: "å", count: 256))], "assertion_subject"),
            (["sub": "ka\0ri"], "assertion_subject"), (["sub": 7], "assertion_claim"),
            (["aud": .null], "assertion_audience"), (["aud": "https://elsewhere.example"], "assertion_audience"),
            (["aud": .array([])], "assertion_audience"), (["aud": 1], "assertion_claim"),
            (["aud": .string(JWTBearerFixture.ourselves)], nil),
            (["aud": .array(["x", "spindle"])], "assertion_other_audience"),
            (["aud": .array([.string(JWTBearerFixture.ourselves), "spindle"])], nil),
            (["exp": .null], "assertion_expiry_missing"), (["exp": .string("\(now + 60)")], "assertion_claim"),
            (["exp": .integer(now)], "assertion_expired"), (["exp": .integer(now + 1)], nil),
            (["exp": .integer(now + day + 60)], nil), (["exp": .integer(now + day + 61)], "assertion_lives_too_long"),
            (["exp": .number(1e300)], "assertion_claim"),
            (["nbf": .integer(now + 60)], nil), (["nbf": .integer(now + 61)], "assertion_not_yet_valid"),
            (["iat": .integer(now + 60)], nil), (["iat": .integer(now + 61)], "assertion_from_the_future"),
            (["iat": .null], nil), (["jti": 5], "assertion_claim"),
        ]
        for (changes, expected) in cases {
            #expect(
                try await fixture.refusal(of: signer.sign(fixture.claims(changes))) == expected, "\(changes)")
        }
    }

    @Test("An assertion's audience and authorized party are compared byte by byte: look-alikes are refused")
    func lookalikes() async throws {
        let fixture = try await JWTBearerFixture(.sqlite)
        try await fixture.trust(
            signer,
            [
                "create_users": true, "audiences": .array(["Kiosk", "caf\u{E9}"]),
                "authorized_parties": .array(["Kiosk"]),
            ])
        let cases: [(KeyValuePairs<String, JSON>, String?)] = [
            (["aud": "Kiosk", "azp": "Kiosk"], nil), (["aud": "caf\u{E9}", "azp": "Kiosk"], nil),
            (["aud": "\u{212A}iosk", "azp": "Kiosk"], "assertion_audience"),
            (["aud": "cafe\u{301}", "azp": "Kiosk"], "assertion_audience"),
            (["aud": "Kiosk", "azp": "\u{212A}iosk"], "assertion_authorized_party"),
        ]
        for (changes, expected) in cases {
            #expect(
                try await fixture.refusal(of: signer.sign(fixture.claims(changes))) == expected, "\(changes)")
        }
    }

    @Test("The hint in an assertion's refusal tells what to correct, in characters that RFC 6749 allows")
    func hints() async throws {
        let fixture = try await JWTBearerFixture(.sqlite)
        try await fixture.trust(signer)
        let assertion = signer.sign(fixture.claims(["aud": "elsewhere"]))
        let error = await #expect(throws: OAuthError.self) { try await fixture.present(assertion) }
        #expect(error?.code == .invalidGrant)
        #expect(error?.hint.contains(JWTBearerFixture.ourselves) == true)
        #expect(error?.hint.contains(JWTBearerFixture.tokenURL) == true)
        let rejections: [JWTRejection] = [
            .malformed, .algorithmNotAllowed, .criticalExtension, .unknownKey, .algorithmOfAnotherKey, .badSignature,
            .claim("exp"),
        ]
        for rejection in rejections {
            let hint = OAuthError.assertion(rejection, algorithms: [.rs256, .es256]).hint
            #expect(hint.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }, "\(hint)")
        }
    }

    // MARK: Signatures

    @Test("An assertion that is unsigned, signed with the public key as a secret, or by another key is refused")
    func forgeries() async throws {
        let fixture = try await JWTBearerFixture(.sqlite)
        try await fixture.trust(signer)
        let keyID = signer.keyID
        func encode(_ json: JSON) -> String { Base64URL.encode(Array(json.text.utf8)) }
        let claims = encode(fixture.claims())

        let none = encode(.members(["alg": "none"])) + "." + claims + "."
        #expect(try await fixture.refusal(of: none) == "assertion_algorithm")

        // RFC 8725 §2.1: the public key is no secret, so its bytes must never serve as one.
        let input = encode(.members(["alg": "HS256", "kid": .string(keyID)])) + "." + claims
        for secret in [signer.keySet.text, JSONWebKey(signer.key).json.text] {
            let mac = Digest.hmacSHA256(Array(input.utf8), key: Array(secret.utf8))
            #expect(try await fixture.refusal(of: input + "." + Base64URL.encode(mac)) == "assertion_algorithm")
        }
        let impostor = PrivateKey.generate(.es256)
        let forged = CompactJWS.sign(fixture.claims(), type: "JWT", key: impostor, keyID: keyID)
        #expect(try await fixture.refusal(of: forged) == "assertion_signature")
        let stranger = Signer().sign(fixture.claims())
        #expect(try await fixture.refusal(of: stranger) == "assertion_key_unknown")
        for malformed in ["x", "a.b", "a.b.c.d", "..", none + "=", String(repeating: ".", count: 9)] {
            #expect(try await fixture.refusal(of: malformed) == "assertion_malformed", "\(malformed)")
        }
        let long = String(repeating: "a", count: Assertion.longest + 1)
        #expect(try await fixture.refusal(of: long) == "malformed_parameter")
    }

    @Test(
        "An issuer's shared secret is the HMAC key of its assertions; it is stored sealed and not shown",
        arguments: Backend.available)
    func sharedSecret(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let secret = "et felles hemmelig ord, på minst 32 bytes"
        let issuer = try await fixture.issuers.register(
            .members(["issuer": "https://issuer.example", "secret": .string(secret), "create_users": true]),
            merchant: fixture.merchant, by: commandLine)
        func signed(_ key: String) -> String {
            let parts = [JSON.members(["alg": "HS256"]), fixture.claims()].map { Base64URL.encode(Array($0.text.utf8)) }
            let input = parts.joined(separator: ".")
            return input + "." + Base64URL.encode(Digest.hmacSHA256(Array(input.utf8), key: Array(key.utf8)))
        }
        #expect(try await fixture.present(signed(secret)).user != nil)
        #expect(try await fixture.refusal(of: signed(secret + "!")) == "assertion_signature")
        #expect(!issuer.json.text.contains("hemmelig"))
        let stored = try await fixture.database.read { db in
            try db.rows("SELECT sealed_secret FROM issuer_settings").first?.get("sealed_secret", as: String?.self)
        }
        #expect(try #require(stored ?? nil).contains("hemmelig") == false)
    }
}
