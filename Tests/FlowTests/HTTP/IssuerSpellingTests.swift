import JSON
import TestSupport
import Testing

/// Browsers write an origin in one way, however the operator wrote the issuer (RFC 6454 §6.2).
@Suite("An issuer that is written otherwise than browsers write it works in browsers")
struct IssuerSpellingTests {
    @Test(
        "a form that a browser posts from our page is accepted, and one from another origin is refused",
        arguments: [
            ("https://Spindle.test:443", "https://spindle.test"), ("http://SPINDLE.test:80/id", "http://spindle.test"),
        ])
    func origin(issuer: String, origin: String) async throws {
        try await World.with(.sqlite, settings: ["issuer": issuer]) { world in
            let page = try await world.server.get("/login")
            let cookie = issuer.hasPrefix("https") ? "__Host-spindle_form" : "spindle_form"
            for (sender, status) in [(origin, 303), (origin + ":8443", 403), ("https://evil.example", 403)] {
                let answer = try await world.server.post(
                    "/login",
                    [
                        "form_token": page.fields["form_token"] ?? "", "email": World.email,
                        "password": World.password,
                    ],
                    cookies: [cookie: page.cookie(cookie) ?? ""],
                    headers: ["Origin": sender, "Sec-Fetch-Site": sender == origin ? "same-origin" : "cross-site"])
                #expect(answer.status == status, "\(sender)")
            }
        }
    }

    @Test("the issuer is told verbatim, and its documents are where its path says")
    func metadata() async throws {
        try await TestServer.with(.sqlite, settings: ["issuer": "https://Spindle.test:443/id/"]) { server in
            for path in ["/id/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/id"] {
                let document = try await server.get(path)
                #expect(document.status == 200, "\(path)")
                #expect(document.json["issuer"] == "https://Spindle.test:443/id/")
                #expect(document.json["token_endpoint"] == "https://spindle.test/oauth/token")
            }
        }
    }
}
