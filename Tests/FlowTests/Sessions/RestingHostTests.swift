import JSON
import TestSupport
import Testing

@Suite("A site's host has nothing but the session service, also while its client is disabled")
struct RestingHostTests {
    @Test(
        "A site's session host has no other page or endpoint, also while its client is disabled",
        arguments: Backend.available)
    func disabled(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            for change in [[:], ["disabled": true], ["disabled": false]] as [JSON] {
                try await world.change("clients", client.id, change)
                for path in ["/login", "/signup", "/account", "/admin/v1/users", "/.well-known/openid-configuration"] {
                    #expect(try await browser.visit(path).status == 404, "\(path) \(change)")
                }
            }
            for port in [":443", ":", ".:80", ":8443"] {
                let answer = try await browser.visit("/login", at: SiteBrowser.host + port)
                #expect(answer.status == 404, "\(port)")
            }
            let home = try await browser.home.open("/login")
            #expect(home.status == 200)
        }
    }
}
