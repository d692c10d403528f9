import JSON
import TestSupport
import Testing

@Suite("ID tokens of another Spindle") struct SecondSpindleTests {
    @Test("an ID token of another Spindle is accepted once, and none of its other tokens", arguments: Backend.available)
    func exchange(_ backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { both in
            let there = both.there
            try await both.here.change(
                "issuers", both.issuer, ["audiences": [.string(there.app.id)], "create_users": true])
            let here = try await IssuerStory(both.here)
            let signedIn = try await there.signIn(scope: "openid email")
            let idToken = try signedIn.require("id_token")
            let answer = try await here.exchange(idToken)
            #expect(answer.status == 200, "\(answer)")
            let again = try await here.present(
                try await there.signIn(scope: "openid").require("id_token"))
            #expect(try again.require("user_id") == answer.require("user_id"))
            here.expect("assertion_replayed", try await here.present(idToken))

            // Signed by the same key, and for somebody else to read.
            try await there.change("clients", there.app.id, ["access_token_format": "jwt"])
            let accessToken = try await there.signIn(scope: "openid email").require("access_token")
            here.expect("assertion_type", try await here.present(accessToken))
            let other = try await there.signIn(scope: "openid", with: try await there.confidential(["scope": "openid"]))
            here.expect("assertion_audience", try await here.present(try other.require("id_token")))
        }
    }
}
