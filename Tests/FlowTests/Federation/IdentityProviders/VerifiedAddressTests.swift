import JSON
import TestSupport
import Testing

@Suite("Whose address an issuer verified, in its ID token or at its userinfo endpoint")
struct VerifiedAddressTests {
    @Test("its word for one of them is believed of the other's", arguments: Backend.available)
    func crossed(backend: Backend) async throws {
        let rules: KeyValuePairs<String, JSON> = [
            "authoritative_domains": ["example.com"], "link_by_email": true, "create_users": false,
        ]
        try await StandInStory.with(backend, rules) { story in
            let here = story.here
            #expect(try await here.change("users", here.user, ["email_verified": true]).status == 200)
            story.there.addEndpoint("userinfo_endpoint", "/userinfo")
            var browser = Browser(here.server)
            func signIn(_ token: KeyValuePairs<String, JSON>, _ userinfo: JSON) async throws -> Answer {
                let asked = story.there.bearers.count
                let known: [JSON.Member] = [.init("sub", "kari"), .init("name", "Kari Nordmann")]
                story.there.publish("/userinfo", .object(known + (userinfo.members ?? [])))
                let answer = try await story.signIn(&browser, token)
                #expect(story.there.bearers.count == asked + 1, "userinfo was not asked")
                return answer
            }
            let adas: JSON = .string(World.email)
            let cases: [(token: KeyValuePairs<String, JSON>, userinfo: JSON)] = [
                (["email": adas], ["email": "kari@example.com", "email_verified": true]),
                (["email_verified": true], ["email": adas, "email_verified": false]),
                (["email_verified": true], ["email": adas]),
            ]
            for (token, userinfo) in cases {
                story.expect(403, "upstreamUnknown", try await signIn(token, userinfo), browser)
            }
            #expect(try await here.count("issuer_subjects") == 0)

            // Each says both of its own.
            #expect(try await signIn([:], ["email": adas, "email_verified": true]).status == 303)
            let code = try await browser.open(here.authorizeAddress()).requireRedirected("code")
            #expect(try await here.redeemAuthorization(code).require("user_id") == here.user)
        }
    }
}
