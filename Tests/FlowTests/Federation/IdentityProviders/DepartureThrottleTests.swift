import TestSupport
import Testing

@Suite("Clients that start sign-ins at other issuers by the thousand are throttled")
struct DepartureThrottleTests {
    @Test("an IPv6 /48 can start 240 sign-ins at another issuer, not sixty for each /64", arguments: Backend.available)
    func site(backend: Backend) async throws {
        try await StandInStory.with(backend, settings: ["trusted_proxies": "127.0.0.0/8"]) { story in
            var browser = Browser(story.here.server)
            let waiting = try await story.here.begin(story.here.authorizeAddress(), in: &browser)
            for number in 0..<240 {
                let host = String(number % 30, radix: 16)
                let left = try await status(of: story, waiting, in: browser, from: "2001:db8:48:\(host)::1")
                #expect(left == 303, "\(number)")
            }
            let refused = try await status(of: story, waiting, in: browser, from: "2001:db8:48:ffff::1")
            let elsewhere = try await status(of: story, waiting, in: browser, from: "2001:db8:49::1")
            #expect(refused == 429 && elsewhere == 303)
        }
    }

    private func status(
        of story: StandInStory, _ waiting: String, in browser: Browser, from address: String
    ) async throws -> Int {
        try await story.here.server.get(
            "/login/with/\(story.issuer)?continue=\(waiting)", cookies: browser.cookies,
            headers: ["X-Forwarded-For": address]
        ).status
    }
}
