import Cryptography
import Directory
import JSON
import Logging
import OAuth
import Outbound
import TestSupport
import Testing
import Values

@testable import Federation

@Suite("Tokens of identity providers") struct ProviderTests {
    private func reason(_ address: String, longestWait: Duration) async -> String? {
        let policy = OutboundPolicy(
            allowedPrivateRanges: ["127.0.0.1"].compactMap { CIDR($0) }, longestWait: longestWait)
        let interface = ProviderInterface(
            provider: .google, address: address, outbound: Outbound(policy: policy, logger: Logger.silent))
        do throws(OAuthError) {
            _ = try await interface.ask(
                "/tokeninfo", ["access_token": "secret"], by: .init(merchant: "merchant", client: "client"))
            return nil
        } catch {
            #expect(error.code == .temporarilyUnavailable && error.retryAfter != nil)
            #expect(!"\(error)".contains("secret"))
            return error.reason
        }
    }

    @Test("A request to an identity provider that does not answer is given up as unavailable")
    func silent() async throws {
        let server = try LocalListener { _ in nil }
        let address = "http://127.0.0.1:\(server.port)"
        #expect(await reason(address, longestWait: .milliseconds(200)) == "provider_unavailable")
    }

    @Test("An identity provider that is unreachable, or at a forbidden address, is reported as unavailable")
    func gone() async throws {
        let server = try LocalListener { _ in [] }
        let address = "http://127.0.0.1:\(server.port)"
        #expect(await reason(address, longestWait: .seconds(60)) == "provider_unavailable")
        server.stop()
        #expect(await reason(address, longestWait: .seconds(60)) == "provider_unavailable")
        #expect(await reason("http://192.0.2.1", longestWait: .seconds(60)) == "provider_unavailable")
    }

    @Test("Google's tokens and users are looked up at two hosts, or at one if a gateway is configured")
    func addresses() {
        let google = ProviderAddresses(facebook: "", google: "https://oauth2.googleapis.com")
        #expect(google.googleTokens == "https://oauth2.googleapis.com")
        #expect(google.googleUserinfo == "https://openidconnect.googleapis.com/v1")
        let gateway = ProviderAddresses(facebook: "", google: "https://gateway.example")
        #expect(gateway.googleUserinfo == "https://gateway.example")
    }

    @Test("A user's name from a provider is left out if it is too long, has a line break or is not text")
    func names() {
        var person = ProviderUser()
        person.take("name", .string(String(repeating: "n", count: 201)))
        person.take("given_name", "A\nB")
        person.take("family_name", 7)
        #expect(person.profile.isEmpty)
        person.take("name", "Ada")
        #expect(person.profile == [.init("name", "Ada")])
    }

    @Test("A user id from an identity provider is accepted only as a number or short ASCII text without blanks")
    func subjects() {
        #expect(ProviderInterface.subject("10215241773831025") == "10215241773831025")
        #expect(ProviderInterface.subject(10_215_241_773_831_025) == "10215241773831025")
        for json: JSON? in [nil, "", "a b", .string(String(repeating: "1", count: 256)), true, "é"] {
            #expect(ProviderInterface.subject(json) == nil)
        }
    }

    private static let secret = SignSecret("a274de")
    /// As the SDK for Android encodes: a line feed every 76 characters and at the end of each part.
    private static let android = """
        eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9
        .eyJpc3MiOiJmYi1hcHAtMSIsInN1YiI6ImF1dGhvcml6YXRpb24iLCJhdWQiOiJodHRwOlwvXC8x
        MjcuMC4wLjE6ODA4MFwvb2F1dGhcL3Rva2VuIiwiZXhwIjoiMjAzMC0wMS0wMSAwMDowMDowMCsw
        MDAwIiwidG9rZW5fdHlwZSI6ImZhY2Vib29rIiwidG9rZW5fdmFsdWUiOiJmYnRvay1hbGljZSJ9
        .c1d95482778681327b99f0fb7c9ff854e8a08357a4da209382ad74ff161b628a
        """
    /// As the SDK for iOS encodes: padded, in one line.
    private static let iOS =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJmYi1hcHAtMSIsInN1YiI6ImF1dGhvcml6YXRpb24iLCJhdWQiOiJodHRw"
        + "OlwvXC8xMjcuMC4wLjE6ODA4MFwvb2F1dGhcL3Rva2VuIiwiZXhwIjoiMjAzMC0wMS0wMSAwMDowMDowMCArMDAwMCIsInRva2VuX3R5"
        + "cGUiOiJmYWNlYm9vayIsInRva2VuX3ZhbHVlIjoiZmJ0b2stYWxpY2UifQ==."
        + "99439eb1b137bb6eaeb809e28fabdbc1a39379d7621f7e03333ee7b1bc523c2a"

    @Test(
        "The provider assertions of SPiD's Android and iOS SDKs verify and have the same content",
        arguments: [android, iOS])
    func vectors(_ text: String) throws {
        #expect(ProviderAssertion.isMeant(by: text))
        let assertion = try ProviderAssertion(text, signedWith: Self.secret)
        #expect(assertion.provider == .facebook && assertion.purpose == .authorization)
        #expect(assertion.issuer == "fb-app-1" && assertion.token.value == "fbtok-alice")
        #expect(assertion.audience == "http://127.0.0.1:8080/oauth/token")
        #expect(assertion.expiresAt.iso8601 == "2030-01-01T00:00:00Z")
    }

    @Test("A provider assertion that lost its line feeds, or has another secret or signature, is refused")
    func signature() throws {
        let last = Self.iOS.hasSuffix("a") ? "b" : "a"
        for text in [
            Self.android.replacing("\n", with: ""), String(Self.iOS.dropLast()) + last, Self.iOS.uppercased(),
            String(Self.iOS.dropLast(64)), Self.iOS + "\n",
        ] {
            #expect(throws: OAuthError.self, "\(text)") {
                try ProviderAssertion(text, signedWith: Self.secret)
            }
        }
        #expect(refusal(Self.iOS, secret: "a274df") == "provider_assertion_signature")
    }

    @Test("A provider assertion verifies in standard JWS form too: base64url in one line, with exp as a number")
    func rfc() throws {
        let text = sign(["alg": "HS256"], claims(["exp": 1_900_000_000]))
        let assertion = try ProviderAssertion(text, signedWith: Self.secret)
        #expect(assertion.expiresAt == Timestamp(milliseconds: 1_900_000_000 * 1000))
    }

    @Test("A provider assertion whose header names another algorithm than HS256 is refused")
    func algorithms() {
        for header: JSON in [
            ["alg": "none", "typ": "JWT"], ["alg": "HS512", "typ": "JWT"], ["typ": "JWT"], ["alg": "hs256"],
            ["alg": "HS256", "typ": "JWS"], ["alg": "HS256", "crit": .array([])],
        ] {
            #expect(refusal(sign(header, claims())) == "provider_assertion_algorithm", "\(header.text)")
        }
        let unsigned = sign(["alg": "none"], claims()).split(separator: ".").prefix(2).joined(separator: ".") + "."
        #expect(refusal(unsigned) == "provider_assertion_algorithm")
    }

    @Test("Each claim of a provider assertion is required, and must have its type")
    func claimFaults() {
        let cases: [(KeyValuePairs<String, JSON>, String)] = [
            (["token_type": "twitter"], "token_type"), (["token_type": .null], "token_type"),
            (["token_value": ""], "token"), (["token_value": "a b"], "token"), (["token_value": 7], "token"),
            (["token_value": .string(String(repeating: "a", count: 4097))], "token"),
            (["iss": .null], "issuer"), (["iss": .string(String(repeating: "i", count: 201))], "issuer"),
            (["sub": "login"], "purpose"), (["sub": .null], "purpose"), (["aud": .null], "audience"),
            (["aud": ["a"]], "audience"), (["exp": .null], "expiry"), (["exp": "tomorrow"], "expiry"),
        ]
        for (changes, fault) in cases {
            #expect(refusal(sign(["alg": "HS256"], claims(changes))) == "provider_assertion_\(fault)", "\(changes)")
        }
    }

    @Test("Text that is no JWT, or too long, is not parsed as a provider assertion")
    func malformed() {
        let long = sign(["alg": "HS256"], claims(["token_value": .string(String(repeating: "a", count: 16 * 1024))]))
        for text in ["", "a.b", "a.b.c", "e30.e30", "e30.W10.c", "e3-+.e30.c", long] {
            #expect(refusal(text) == "provider_assertion_malformed", "\(text.prefix(20))")
            #expect(!ProviderAssertion.isMeant(by: text))
        }
        #expect(!ProviderAssertion.isMeant(by: "e30.e30.c"), "an assertion of RFC 7523 is another thing")
    }

    @Test("A provider assertion's expiry is read as a date of either mobile SDK, with its zone, or a number")
    func dates() {
        let good: [(JSON, String)] = [
            ("2030-01-01 00:00:00+0000", "2030-01-01T00:00:00Z"),
            ("2030-01-01 00:00:00 +0000", "2030-01-01T00:00:00Z"),
            ("2030-07-01 01:30:05+0200", "2030-06-30T23:30:05Z"),
            ("2029-12-31 20:00:00-0430", "2030-01-01T00:30:00Z"),
            ("2028-02-29 12:00:00 +0000", "2028-02-29T12:00:00Z"),
            ("2100-03-01 00:00:00+0000", "2100-03-01T00:00:00Z"),
            ("1970-01-01 00:00:00+0000", "1970-01-01T00:00:00Z"), (1_900_000_000, "2030-03-17T17:46:40Z"),
        ]
        for (exp, moment) in good { #expect(Timestamp(expiry: exp)?.iso8601 == moment, "\(exp.text)") }
        let bad: [JSON] = [
            "2030-01-01T00:00:00Z", "2030-01-01 00:00:00", "2030-13-01 00:00:00+0000", "2030-02-30 00:00:00+0000",
            "2027-02-29 00:00:00+0000", "2030-01-01 24:00:00+0000", "2030-01-01 00:00:00+000",
            "2030-01-01 00:00:00*0000", "2030-01-01 00:00:00  +0000", "30-01-01 00:00:00+0000", "", "0", -1,
            253_402_300_800, true, "２030-01-01 00:00:00+0000",
        ]
        for exp in bad { #expect(Timestamp(expiry: exp) == nil, "\(exp.text)") }
    }

    // MARK: -

    private func refusal(_ text: String, secret: String = "a274de") -> String? {
        do throws(OAuthError) {
            _ = try ProviderAssertion(text, signedWith: SignSecret(secret))
            return nil
        } catch {
            return error.reason
        }
    }

    private func claims(_ changes: KeyValuePairs<String, JSON> = [:]) -> JSON {
        var claims: [JSON.Member] = [
            .init("iss", "fb-app-1"), .init("sub", "attach"), .init("aud", "https://login.example/api/2/attach_jwt"),
            .init("exp", "2030-01-01 00:00:00+0000"), .init("token_type", "googleplus"), .init("token_value", "t"),
        ]
        for (name, value) in changes {
            claims.removeAll { $0.name == name }
            if value != .null { claims.append(.init(name, value)) }
        }
        return .object(claims)
    }

    private func sign(_ header: JSON, _ claims: JSON) -> String {
        let text = [header, claims].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        return text + "." + Base64URL.encode(Digest.hmacSHA256(Array(text.utf8), key: Array("a274de".utf8)))
    }
}
