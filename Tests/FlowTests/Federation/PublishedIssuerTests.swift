import Cryptography
import JOSE
import JSON
import TestSupport
import Testing
import Values

@Suite("An issuer's published documents and keys are used while they are valid") struct PublishedIssuerTests {
    private func expectUnavailable(
        _ cause: String, _ answer: Answer, _ story: IssuerStory, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == 503, "\(answer)", sourceLocation: sourceLocation)
        #expect(answer.error == "temporarily_unavailable", sourceLocation: sourceLocation)
        #expect(answer.header("retry-after") == "10", sourceLocation: sourceLocation)
        #expect(story.world.server.log.says(cause), "\(cause)", sourceLocation: sourceLocation)
        // The cause is the operator's to know.
        #expect(!answer.body.contains(cause), sourceLocation: sourceLocation)
    }

    @Test("An issuer's discovery document that names another issuer or a forbidden address is refused")
    func documents() async throws {
        try await IssuerStory.with(.sqlite) { story in
            let host = try IssuerHost(named: "https://op.example")
            try await story.trust(host)
            let bad: [(JSON, String)] = [
                (host.document(["issuer": "https://op.example/"]), "the issuer in its document is another"),
                (host.document(["issuer": "https://OP.example"]), "the issuer in its document is another"),
                (host.document(["issuer": .null]), "the issuer in its document is another"),
                (host.document(["jwks_uri": .null]), "its document has no jwks_uri"),
                (host.document(["jwks_uri": "http://10.0.0.1/keys"]), "jwks_uri in its document is no address"),
                (host.document(["jwks_uri": "https://10.0.0.1/keys"]), "jwks_uri in its document is no address"),
                (host.document(["jwks_uri": "file:///etc/passwd"]), "jwks_uri in its document is no address"),
                (
                    host.document(["token_endpoint": "https://192.168.0.1/token"]),
                    "token_endpoint in its document is no address"
                ),
                (["keys": []], "the issuer in its document is another"), ("text", "answered with no JSON object"),
            ]
            for (document, cause) in bad {
                host.publish("/discovery", .init(body: document.text))
                story.world.server.clock.advance(by: .seconds(10))
                expectUnavailable(cause, try await story.signIn(at: host), story)
            }
            #expect(host.questions("/keys") == 0)
            host.publish("/discovery", .init(body: host.document().text))
            story.world.server.clock.advance(by: .seconds(10))
            #expect(try await story.signIn(at: host).status == 200)
        }
    }

    @Test("An issuer's key set is not used if it is too large, malformed, an error page or a redirect")
    func badKeys() async throws {
        try await IssuerStory.with(.sqlite) { story in
            let host = try IssuerHost()
            let elsewhere = try IssuerHost()
            try await story.trust(host)
            let good = JSON.members(["keys": [JSONWebKey(host.key).json]]).text
            let bad: [(IssuerHost.Page, String)] = [
                (.init(body: String(repeating: " ", count: 600 * 1024) + good), "the answer is longer than"),
                (.init(body: "<html>"), "answered with no JWK set"),
                (.init(body: #"{"keys":[]}"#), "answered with no key that could be used: it has none"),
                (.init(body: good, status: "500 Internal Server Error"), "answered with status 500"),
                (
                    .init(body: good, status: "302 Found", headers: ["Location: \(elsewhere.keys)"]),
                    "answered with status 302"
                ),
                (
                    .init(body: "", status: "307 Temporary Redirect", headers: ["Location: http://169.254.169.254/"]),
                    "answered with status 307"
                ),
            ]
            for (page, cause) in bad {
                host.publish("/keys", page)
                story.world.server.clock.advance(by: .seconds(10))
                expectUnavailable(cause, try await story.signIn(at: host), story)
            }
            #expect(elsewhere.questions("/keys") == 0)
        }
    }

    @Test(
        "An unknown key id causes at most one fetch of the issuer's key set in ten seconds",
        arguments: Backend.available)
    func rotation(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host, ["algorithms": ["RS256", "ES256"]])
            #expect(try await story.signIn(at: host).status == 200)
            let new = PrivateKey.generate(.es256)
            host.publish(host.key, new)
            func signIn(_ key: PrivateKey) async throws -> Answer {
                try await story.present(host.sign(story.claims(host), with: key))
            }
            #expect(try await signIn(new).status == 200)
            #expect(host.questions("/keys") == 2)
            let newer = PrivateKey.generate(.es256)
            host.publish(host.key, new, newer)
            for _ in 1...3 { story.expect("assertion_key_unknown", try await signIn(newer)) }
            #expect(host.questions("/keys") == 2)
            story.world.server.clock.advance(by: .seconds(10))
            #expect(try await signIn(newer).status == 200)
            let stranger = PrivateKey.generate(.es256)
            for _ in 1...3 { story.expect("assertion_key_unknown", try await signIn(stranger)) }
            #expect(host.questions("/keys") == 3 && host.questions("/discovery") == 1)
        }
    }

    @Test("An issuer's cached keys are used for a day while its key set and document cannot be fetched")
    func outage() async throws {
        try await IssuerStory.with(.sqlite) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            #expect(try await story.signIn(at: host).status == 200)
            host.publish("/keys", .init(body: "", status: "502 Bad Gateway"))
            host.publish("/discovery", .init(body: host.document(["issuer": "https://elsewhere.example"]).text))
            for hours in [1, 22] as [Int64] {
                story.world.server.clock.advance(by: .hours(hours))
                #expect(try await story.signIn(at: host).status == 200, "\(hours)")
            }
            host.stop()
            story.world.server.clock.advance(by: .hours(1))
            #expect(try await story.signIn(at: host).status == 503)
        }
    }

    @Test(
        "A key that its issuer withdrew is not used, even if no other key replaces it",
        arguments: [("200 OK", #"{"keys":[]}"#), ("404 Not Found", ""), ("410 Gone", "")])
    func withdrawn(status: String, body: String) async throws {
        try await IssuerStory.with(.sqlite) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            #expect(try await story.signIn(at: host).status == 200)
            host.publish("/keys", .init(body: body, status: status))
            story.world.server.clock.advance(by: .hours(1))
            #expect(try await story.signIn(at: host).status == 503)
            host.publish(host.key)
            story.world.server.clock.advance(by: .seconds(10))
            #expect(try await story.signIn(at: host).status == 200)
        }
    }

    @Test("An issuer's discovery document is cached as long as its Cache-Control says")
    func life() async throws {
        try await IssuerStory.with(.sqlite) { story in
            let host = try IssuerHost()
            host.publish("/discovery", .init(body: host.document().text, headers: ["Cache-Control: max-age=120"]))
            try await story.trust(host)
            for (seconds, questions) in [(0, 1), (119, 1), (1, 2)] as [(Int64, Int)] {
                story.world.server.clock.advance(by: .seconds(seconds))
                #expect(try await story.signIn(at: host).status == 200)
                #expect(host.questions("/discovery") == questions)
            }
        }
    }
}
