import Foundation
import TestSupport
import Testing

@Suite("The test that sends every form from another site covers every form")
struct FormRouteTests {
    /// Forms that programs send, with their own credentials; and those that redirect to the same request by GET.
    private static let exempt = [
        "/oauth/token", "/oauth/exchange", "/oauth/introspect", "/oauth/revoke", "/oauth/register", "/oauth/userinfo",
        "/userinfo", "/api/", "/admin/", "/webhooks/", "/oauth/ro", "/passwordless/",
        // Other issuers' pages post there; what they post is of use to the browser that left alone.
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

    @Test("the list of forms equals the routes that take a form")
    func everyForm() async throws {
        try await TestServer.with(.sqlite) { server in
            var forms: Set<String> = []
            for route in try server.routes where route.hasPrefix("POST ") {
                let path = String(route.dropFirst("POST ".count).replacing(/\{[^}]*\}/, with: "x"))
                guard !Self.exempt.contains(where: { path.hasPrefix($0) }) else { continue }
                let answer = try await server.post(path, ["state": "s"])
                // It was not looked at: the browser is sent to ask again.
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
