import Foundation
import JSON
import TestSupport
import Testing

/// Browsers write an origin in one way, however the operator wrote the issuer (RFC 6454 §6.2).
@Suite("A form is accepted only from the issuer's origin, in whatever spelling")
struct FormOriginTests {
    @Test(
        "A form is accepted from the issuer's origin only, however the operator spelled the issuer",
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

    @Test("The issuer is published as it was configured, and its metadata is found by the issuer's path")
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

    /// Forms that programs send, with their own credentials; and those that redirect to the same request by GET.
    private static let exempt = [
        "/oauth/token", "/oauth/exchange", "/oauth/introspect", "/oauth/revoke", "/oauth/register", "/oauth/userinfo",
        "/userinfo", "/api/", "/admin/", "/webhooks/", "/oauth/ro", "/passwordless/",
        // Other issuers' pages post there; only the browser that left can use the answer.
        "/login/with/",
    ]

    /// The forms that are sent from a foreign page by Tests/Browser/test_bad_forms.py, which is read as text.
    private func targets() throws -> Set<String> {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Browser/test_bad_forms.py").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let list = try #require(text.firstMatch(of: /(?s)\nTARGETS = \[(.*?)\]/)).output.1
        return Set(list.matches(of: /"([^"]+)"/).map { String($0.output.1) })
    }

    @Test("The list of forms in the browser test test_bad_forms.py equals the routes that take a form")
    func everyForm() async throws {
        try await TestServer.with(.sqlite) { server in
            var forms: Set<String> = []
            for route in try server.routes where route.hasPrefix("POST ") {
                let path = String(route.dropFirst("POST ".count).replacing(/\{[^}]*\}/, with: "x"))
                guard !Self.exempt.contains(where: { path.hasPrefix($0) }) else { continue }
                let answer = try await server.post(path, ["state": "s"])
                // The form was not read: the browser is redirected to the same request by GET.
                if answer.status == 303, answer.header("location") == "\(path)?state=s" { continue }
                #expect(answer.status == 403, "\(path) takes a form without a token")
                forms.insert(path)
            }
            let targets = try targets()
            #expect(forms.subtracting(targets) == [], "not sent by Tests/Browser/test_bad_forms.py")
            #expect(targets.subtracting(forms) == [], "no such form")
        }
    }
}
