import Cryptography
import JOSE
import JSON
import Testing
import Values

@Suite("Verifying JWTs of other issuers") struct AssertionKeysTests {
    private static let all = Set(SignatureAlgorithm.allCases)
    private static let key = PrivateKey.generate(.es256)
    private static let rsa = PrivateKey.generate(.rs256)

    private func keySet(_ keys: String...) throws -> AssertionKeys {
        try AssertionKeys(keySet: "{\"keys\":[\(keys.joined(separator: ","))]}")
    }

    private func fixtures() throws -> AssertionKeys {
        try AssertionKeys(keySet: "{\"keys\":[\(JWTFixtures.keys.values.joined(separator: ","))]}")
    }

    /// A token with any header and payload, signed by `key`.
    private func token(_ header: String, _ payload: String = #"{"iss":"i"}"#, key: PrivateKey) -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
    }

    @Test(
        "A JWT that another library signed is verified, whichever of the allowed algorithms it uses",
        arguments: SignatureAlgorithm.allCases)
    func everyAlgorithm(_ algorithm: SignatureAlgorithm) async throws {
        let token = try #require(JWTFixtures.tokens[algorithm.rawValue])
        let keys = algorithm.isSymmetric ? AssertionKeys(secret: JWTFixtures.secret) : try fixtures()
        let jwt = try await keys.verify(token, allowed: [algorithm])
        #expect(try jwt.issuer == "https://issuer.example")
        #expect(try jwt.subject == "kari")
        #expect(try jwt.identifier == "1")
        #expect(try jwt.audience == ["spindle", "other"])
        #expect(jwt.header["alg"]?.string == algorithm.rawValue)
        #expect(token.hasPrefix(jwt.signedText + "."))
        // Expired long ago: the caller judges times.
        #expect(try jwt.expiresAt == Timestamp(milliseconds: 1_300_819_380 * 1000))
        #expect(try jwt.notBefore == nil)

        await #expect(throws: JWTRejection.algorithmNotAllowed) {
            try await keys.verify(token, allowed: Self.all.subtracting([algorithm]))
        }
        let last = token.hasSuffix("A") ? "Q" : "A"
        await #expect(throws: JWTRejection.self) { try await keys.verify(token.dropLast() + last, allowed: Self.all) }
        await #expect(throws: JWTRejection.badSignature) {
            try await keys.verify(jwt.signedText + ".", allowed: Self.all)
        }
    }

    @Test("A JWT that names a client is for that client only if the client is its audience")
    func namedClient() async throws {
        let keys = try keySet(JSONWebKey(Self.key).json.text)
        for (claims, isForIt) in [
            (#"{"aud":"a"}"#, true), (#"{"aud":"a","client_id":"a"}"#, true),
            (#"{"aud":["b","a"],"client_id":"a"}"#, true), (#"{"aud":"https://api.example","client_id":"a"}"#, false),
            (#"{"client_id":"a"}"#, false), (#"{"aud":"a","client_id":["a"]}"#, false),
        ] {
            let signed = token(#"{"alg":"ES256","typ":"JWT"}"#, claims, key: Self.key)
            let jwt = try await keys.verify(signed, allowed: [.es256])
            #expect(jwt.isForItsClient == isForIt, "\(claims)")
        }
    }

    @Test("The algorithm `none` is refused in every spelling, with a signature or without")
    func noAlgorithm() async throws {
        let keys = try fixtures()
        for name in ["none", "None", "NONE", "nOnE", ""] {
            let unsigned = token(#"{"alg":"\#(name)","kid":"rsa"}"#, key: Self.key)
            for text in [unsigned, String(unsigned.prefix(through: unsigned.lastIndex(of: ".")!))] {
                await #expect(throws: JWTRejection.algorithmNotAllowed) {
                    try await keys.verify(text, allowed: Self.all)
                }
            }
        }
        await #expect(throws: JWTRejection.algorithmNotAllowed) {
            try await keys.verify(token("{}", key: Self.key), allowed: Self.all)
        }
    }

    @Test("An HMAC keyed with a public key's bytes is not verified with that key")
    func keyConfusion() async throws {
        let jwk = JSONWebKey(Self.rsa)
        let keys = try keySet(jwk.json.text)
        guard case .rsa(let modulus, _) = Self.rsa.publicNumbers else { return }
        for secret in [modulus, Array(jwk.json.text.utf8), Array((jwk.json["n"]?.string ?? "").utf8)] {
            for header in [#"{"alg":"HS256","kid":"\#(jwk.keyID)"}"#, #"{"alg":"HS256"}"#] {
                let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array("{}".utf8))
                let mac = Base64URL.encode(Digest.hmacSHA256(Array(input.utf8), key: secret))
                await #expect(throws: JWTRejection.algorithmOfAnotherKey) {
                    try await keys.verify("\(input).\(mac)", allowed: Self.all)
                }
            }
        }
        // The reverse holds too: a secret verifies no RSA signature.
        await #expect(throws: JWTRejection.algorithmOfAnotherKey) {
            try await AssertionKeys(secret: JWTFixtures.secret)
                .verify(token(#"{"alg":"RS256"}"#, key: Self.rsa), allowed: Self.all)
        }
    }

    @Test("A JWT's HMAC is refused if it is longer than the shared secret")
    func shortSecret() async throws {
        let token = try #require(JWTFixtures.tokens["HS512"])
        await #expect(throws: JWTRejection.algorithmOfAnotherKey) {
            try await AssertionKeys(secret: String(repeating: "x", count: 63)).verify(token, allowed: Self.all)
        }
        #expect(AssertionKeys(secret: String(repeating: "x", count: 31)).isEmpty)
    }

    @Test("A JWT with an unknown key id is refused as such, and no other key is tried")
    func keyID() async throws {
        let keys = try keySet(JSONWebKey(Self.key).json.text)
        await #expect(throws: JWTRejection.unknownKey) {
            try await keys.verify(token(#"{"alg":"ES256","kid":"other"}"#, key: Self.key), allowed: Self.all)
        }
        await #expect(throws: JWTRejection.malformed) {
            try await keys.verify(token(#"{"alg":"ES256","kid":7}"#, key: Self.key), allowed: Self.all)
        }
        _ = try await keys.verify(token(#"{"alg":"ES256"}"#, key: Self.key), allowed: Self.all)
        let both = try keySet(JSONWebKey(.generate(.es256)).json.text, JSONWebKey(Self.key).json.text)
        _ = try await both.verify(token(#"{"alg":"ES256"}"#, key: Self.key), allowed: Self.all)
        await #expect(throws: JWTRejection.badSignature) {
            try await both.verify(token(#"{"alg":"ES256"}"#, key: .generate(.es256)), allowed: Self.all)
        }
    }

    @Test("An unverified JWT does not fix the algorithm of its key for later JWTs")
    func notPinned() async throws {
        let keys = try fixtures()
        let header = #"{"alg":"PS512","kid":"rsa"}"#
        await #expect(throws: JWTRejection.badSignature) {
            try await keys.verify(token(header, key: Self.rsa), allowed: Self.all)
        }
        _ = try await keys.verify(try #require(JWTFixtures.tokens["RS256"]), allowed: Self.all)
        _ = try await keys.verify(try #require(JWTFixtures.tokens["PS256"]), allowed: Self.all)
    }

    @Test(
        "A JWT with the member crit in its header is refused, whatever its value",
        arguments: [#"["exp"]"#, "[]", "null", #"["b64"]"#])
    func critical(_ crit: String) async throws {
        let keys = try keySet(JSONWebKey(Self.key).json.text)
        await #expect(throws: JWTRejection.criticalExtension) {
            try await keys.verify(token(#"{"alg":"ES256","crit":\#(crit)}"#, key: Self.key), allowed: Self.all)
        }
    }

    @Test("A JWT with a repeated member name, in header or claims, is refused")
    func repeatedNames() async throws {
        let keys = try keySet(JSONWebKey(Self.key).json.text)
        for text in [
            token(#"{"alg":"ES256","alg":"ES256"}"#, key: Self.key),
            token(#"{"alg":"ES256"}"#, #"{"sub":"a","sub":"b"}"#, key: Self.key),
            token(#"{"alg":"ES256"}"#, #"{"sub":"a","\u0073ub":"b"}"#, key: Self.key),
        ] {
            await #expect(throws: JWTRejection.malformed) { try await keys.verify(text, allowed: Self.all) }
        }
    }

    @Test("A JWT that is not three canonical base64url parts with two JSON objects is refused")
    func malformed() async throws {
        let keys = try keySet(JSONWebKey(Self.key).json.text)
        let good = token(#"{"alg":"ES256"}"#, key: Self.key)
        let parts = good.split(separator: ".").map(String.init)
        _ = try await keys.verify(good, allowed: Self.all)
        for text in [
            "", ".", "..", "a.b.c", parts[0], parts[0] + "." + parts[1], good + ".", "." + good, good + "." + parts[0],
            good + "=", parts[0] + "=." + parts[1] + "." + parts[2], " " + good, good + "\n",
            token("[]", key: Self.key), token(#""ES256""#, key: Self.key),
            token(#"{"alg":"ES256"}"#, "[]", key: Self.key), token(#"{"alg":"ES256"}"#, "", key: Self.key),
            token(#"{"alg":"ES256"}"#, "{} {}", key: Self.key),
            good + String(repeating: "A", count: 16 * 1024),
        ] {
            await #expect(throws: JWTRejection.malformed) { try await keys.verify(text, allowed: Self.all) }
        }
    }

    @Test("A JWT's claim of the wrong type is an error, not an absent claim")
    func claimTypes() async throws {
        let keys = try keySet(JSONWebKey(Self.key).json.text)
        func jwt(_ payload: String) async throws -> VerifiedJWT {
            try await keys.verify(token(#"{"alg":"ES256"}"#, payload, key: Self.key), allowed: Self.all)
        }
        let wrong = try await jwt(#"{"iss":1,"sub":null,"aud":["a",1],"exp":"1","nbf":1e300,"iat":-1,"jti":{}}"#)
        #expect(throws: JWTRejection.claim("iss")) { try wrong.issuer }
        #expect(throws: JWTRejection.claim("sub")) { try wrong.subject }
        #expect(throws: JWTRejection.claim("aud")) { try wrong.audience }
        #expect(throws: JWTRejection.claim("exp")) { try wrong.expiresAt }
        #expect(throws: JWTRejection.claim("nbf")) { try wrong.notBefore }
        #expect(throws: JWTRejection.claim("iat")) { try wrong.issuedAt }
        #expect(throws: JWTRejection.claim("jti")) { try wrong.identifier }
        let right = try await jwt(#"{"aud":"a","exp":9223372036854775807,"nbf":1.5}"#)
        #expect(try right.audience == ["a"])
        #expect(try right.notBefore == Timestamp(milliseconds: 1500))
        #expect(throws: JWTRejection.claim("exp")) { try right.expiresAt }
        #expect(try right.issuer == nil)
    }
}
