import Directory
import Federation
import JOSE
import JSON
import Keys
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Trusted issuers") struct TrustedIssuersTests {
    private static let keySet = Signer().keySet
    private static let secret = JSON.string(String(repeating: "s", count: 32))

    @Test("The refusal of a trusted issuer's registration names the member at fault")
    func faults() async throws {
        let fixture = try await JWTBearerFixture(.sqlite)
        let privateKey = JSON.members([
            "keys": .array([.members(["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "d": "AA"])])
        ])
        let cases: [(KeyValuePairs<String, JSON?>, String)] = [
            (["jwks": Self.keySet], "issuer"), (["issuer": "i"], "jwks"), (["issuer": "i", "jwks": .null], "jwks"),
            (["issuer": "i", "jwks": Self.keySet, "secret": Self.secret], "secret"),
            (["issuer": "i", "jwks": Self.keySet, "jwks_uri": "https://i.example"], "jwks_uri"),
            (["issuer": "i", "jwks": .members(["keys": .array([])])], "jwks"),
            (["issuer": "i", "jwks": "text"], "jwks"), (["issuer": "i", "jwks": privateKey], "jwks"),
            (["issuer": "i", "jwks_uri": "ftp://i.example/keys"], "jwks_uri"),
            (["issuer": "i", "jwks_uri": "https://10.0.0.1/keys"], "jwks_uri"),
            (["issuer": "i", "jwks_uri": "https://a:b@i.example/keys"], "jwks_uri"),
            (["issuer": "i", "secret": "too short to be a secret of 32"], "secret"),
            (["issuer": "i", "secret": Self.secret, "algorithms": .array(["HS512"])], "secret"),
            (["issuer": "i", "secret": Self.secret, "algorithms": .array(["RS256"])], "algorithms"),
            (["issuer": "i", "jwks": Self.keySet, "algorithms": .array(["HS256"])], "algorithms"),
            (["issuer": "i", "jwks": Self.keySet, "algorithms": .array(["none"])], "algorithms"),
            (["issuer": "i", "jwks": Self.keySet, "algorithms": .array([])], "algorithms"),
            (["issuer": "i", "jwks": Self.keySet, "audiences": .array(["a\nb"])], "audiences"),
            (["issuer": "i", "jwks": Self.keySet, "create_users": "yes"], "create_users"),
        ]
        for (members, member) in cases {
            let fault = await #expect(throws: JSONFault.self, "\(members)") {
                try await fixture.issuers.register(
                    .members(members), merchant: fixture.merchant,
                    by: commandLine)
            }
            #expect(fault?.member == member, "\(members)")
        }
    }

    @Test("A trusted issuer is stored, listed, changed and deleted", arguments: Backend.available)
    func life(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let issuer = try await fixture.issuers.register(
            .members(["issuer": "https://issuer.example", "jwks": Self.keySet, "audiences": .array(["a", "b"])]),
            merchant: fixture.merchant,
            by: commandLine)
        let found = try #require(try await fixture.issuers.find(issuer.id))
        #expect(found.json == issuer.json)
        #expect(found.json["jwks"] == Self.keySet)
        #expect(found.json["algorithms"]?.strings?.contains("HS256") == false)
        #expect(try await fixture.issuers.find("https://issuer.example", of: fixture.merchant)?.id == issuer.id)

        let taken = await #expect(throws: JSONFault.self) {
            try await fixture.issuers.register(
                .members(["issuer": "https://issuer.example", "secret": Self.secret]), merchant: fixture.merchant,
                by: commandLine)
        }
        #expect(taken?.member == "issuer")
        let orphan = await #expect(throws: JSONFault.self) {
            try await fixture.issuers.register(
                .members(["issuer": "i", "secret": Self.secret]), merchant: Merchant.ID("none"), by: commandLine)
        }
        #expect(orphan?.member == "merchant_id")

        // A secret replaces keys and their algorithms.
        let changed = try #require(
            try await fixture.issuers.change(
                issuer.id, .members(["secret": Self.secret, "disabled": true]), by: commandLine))
        #expect(changed.json["algorithms"]?.strings == ["HS256"])
        #expect(changed.json["jwks"] == nil)
        #expect(changed.json["audiences"]?.strings == ["a", "b"])
        #expect(try await fixture.issuers.find(issuer.id)?.json == changed.json)
        #expect(changed.disabledAt != nil)
        await #expect(throws: JSONFault.self) {
            try await fixture.issuers.change(
                issuer.id, .members(["issuer": "https://another.example"]), by: commandLine)
        }

        #expect(try await fixture.issuers.list(of: fixture.merchant, after: "", count: 9).count == 1)
        #expect(try await fixture.issuers.list(of: Merchant.ID("none"), after: "", count: 9).isEmpty)
        #expect(try await fixture.issuers.list(of: nil, after: issuer.id.text, count: 9).isEmpty)
        #expect(try await fixture.issuers.delete(issuer.id, by: commandLine))
        #expect(try await fixture.issuers.delete(issuer.id, by: commandLine) == false)
        #expect(try await fixture.issuers.change(issuer.id, .members([:]), by: commandLine) == nil)
    }

    private static let facebook = "https://www.facebook.com"
    private static let google = "https://accounts.google.com"

    @Test("The refusal of an identity provider's registration names the member at fault")
    func providerFaults() async throws {
        let fixture = try await JWTBearerFixture(.sqlite)
        let facebook: [JSON.Member] = [
            .init("issuer", .string(Self.facebook)), .init("provider", "facebook"), .init("audiences", .array(["1"])),
            .init("app_secret", "s"),
        ]
        let cases: [(KeyValuePairs<String, JSON>, String)] = [
            (["provider": "twitter"], "provider"), (["provider": 1], "provider"),
            (["issuer": .string(Self.google)], "issuer"), (["audiences": .array([])], "audiences"),
            (["audiences": .array(["1", "2"])], "audiences"), (["app_secret": .null], "app_secret"),
            (["provider": "google", "issuer": .string(Self.google)], "app_secret"),
            (["provider": .null], "app_secret"), (["provider": .null, "app_secret": .null], "jwks"),
            (["provider": .null, "app_secret": .null, "app_names": .array(["a"])], "app_names"),
            (["app_names": .array(["a\nb"])], "app_names"), (["app_names": .array([""])], "app_names"),
            (["app_names": "a"], "app_names"), (["algorithms": .array(["HS256"])], "algorithms"),
            (["jwks": Self.keySet, "secret": Self.secret], "secret"),
        ]
        for (changes, member) in cases {
            let changed = Set(changes.map(\.key))
            let json = JSON.object(
                facebook.filter { !changed.contains($0.name) } + changes.map { JSON.Member($0.key, $0.value) })
            let fault = await #expect(throws: JSONFault.self, "\(changes)") {
                try await fixture.issuers.register(
                    json, merchant: fixture.merchant,
                    by: commandLine)
            }
            #expect(fault?.member == member, "\(changes)")
        }
    }

    @Test(
        "An identity provider is stored and changed; its app secret is sealed and never shown",
        arguments: Backend.available)
    func providerLife(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let made = try await fixture.issuers.register(
            .members([
                "issuer": .string(Self.facebook), "provider": "facebook", "audiences": .array(["1"]),
                "app_names": .array(["a", "b"]), "app_secret": "the app's secret",
            ]), merchant: fixture.merchant,
            by: commandLine)
        let found = try #require(try await fixture.issuers.find(made.id))
        #expect(found.json == made.json && found.hasProvidersKeys && found.algorithms == [.rs256])
        #expect(found.json["provider"] == "facebook" && found.json["app_names"]?.strings == ["a", "b"])
        #expect(!found.json.text.contains("secret"))
        let sealed = try #require(found.app?.sealedSecret)
        #expect(try fixture.seal.open(sealed, .appSecret, row: made.id.text) == "the app's secret")

        // Members that are not named stay; keys may be added later, so that its ID tokens are accepted too.
        let renamed = try await fixture.issuers.change(
            made.id, .members(["app_names": .array(["c"])]), by: commandLine)
        #expect(renamed?.app?.names == ["c"] && renamed?.app?.sealedSecret == sealed)
        let keyed = try await fixture.issuers.change(
            made.id, .members(["jwks": Self.keySet, "app_secret": "another secret"]), by: commandLine)
        #expect(keyed?.json["jwks"] == Self.keySet && keyed?.hasProvidersKeys == false)
        #expect(keyed?.app?.names == ["c"] && keyed?.app?.sealedSecret != sealed)
        #expect(try await fixture.issuers.find(made.id)?.json == keyed?.json)
        await #expect(throws: JSONFault.self) {
            try await fixture.issuers.change(made.id, .members(["provider": "google"]), by: commandLine)
        }
    }

    @Test("A trusted issuer with keys can be changed into an identity provider", arguments: Backend.available)
    func laterProvider(_ backend: Backend) async throws {
        let fixture = try await JWTBearerFixture(backend)
        let made = try await fixture.issuers.register(
            .members(["issuer": .string(Self.google), "jwks": Self.keySet]), merchant: fixture.merchant,
            by: commandLine)
        #expect(made.json["provider"] == nil && made.json["app_names"] == nil)
        let changed = try await fixture.issuers.change(
            made.id, .members(["provider": "google", "audiences": .array(["a", "b"])]), by: commandLine)
        #expect(changed?.app?.provider == .google && changed?.json["jwks"] == Self.keySet)
        #expect(try await fixture.issuers.find(made.id)?.json == changed?.json)
    }
}
