import JSON
import TestSupport
import Testing

@Suite("What docs/guide-spid.md leaves out is not there") struct LeftOutTests {
    @Test("SPiD's shop, trackers and widget of the simplified login are 404", arguments: Backend.available)
    func absent(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            for path in [
                "describe/user", "anonymous/users", "url/login", "qrcode", "email_templates", "kpis", "user",
                "purchases", "orders", "order/1", "payments", "vouchers", "voucher/1", "campaigns", "subscribe",
                "user/\(world.user)/orders", "user/\(world.user)/traits", "user/\(world.user)/credits", "traits",
            ] {
                let answer = try await world.api(path, token)
                #expect(answer.status == 404 && answer.json["type"] == "error", "\(path): \(answer)")
                #expect(try await world.api(path, token, ["productId": "1"]).status == 404, "\(path)")
            }
            for path in ["/flow/checkout", "/ajax/traits.js", "/authn/simplified-login-widget"] {
                let answer = try await world.server.get("\(path)?client_id=\(loom.id)&callback=f")
                #expect(answer.status == 404, "\(path): \(answer)")
            }
        }
    }
}
