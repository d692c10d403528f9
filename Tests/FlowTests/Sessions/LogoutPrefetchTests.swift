import TestSupport
import Testing

@Suite("A logout that the browser only prefetches")
struct LogoutPrefetchTests {
    private static let purposes = ["prefetch", "prefetch;prerender"]

    @Test(
        "Prefetching a logout link, our own or a site's with an ID token, does not sign the browser out",
        arguments: Backend.available)
    func browser(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            for isOwn in [true, false] {
                var browser = Browser(world.server)
                let hint = try await site.signIn(in: &browser).require("id_token")
                let query = [("id_token_hint", hint), ("post_logout_redirect_uri", Website.bye)]
                let pairs = query.map { "\($0.0)=\(TestServer.encode($0.1))" }.joined(separator: "&")
                let path = isOwn ? "/logout" : "/logout?\(pairs)"
                let headers = ["Sec-Fetch-Site": isOwn ? "same-origin" : "cross-site", "Sec-Fetch-Dest": "document"]
                for purpose in Self.purposes {
                    let early = try await browser.open(path, headers: headers.merging(["Sec-Purpose": purpose]) { $1 })
                    #expect(early.status == 204 && early.header("set-cookie") == nil, "\(early)")
                    #expect(try await browser.isSignedIn(), "\(path)")
                }
                let out = try await browser.open(path, headers: headers)
                #expect(isOwn ? out.status == 200 : out.header("location") == Website.bye, "\(out)")
                #expect(try await !browser.isSignedIn(), "\(path)")
            }
        }
    }

    @Test("Prefetching a logout link does not end the token in it", arguments: Backend.available)
    func token(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let path = "/logout?oauth_token=\(token)"
            let headers = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"]
            for purpose in Self.purposes {
                let early = try await world.server.get(path, headers: headers.merging(["Sec-Purpose": purpose]) { $1 })
                #expect(early.status == 204, "\(early)")
                #expect(try await world.isLive(token))
            }
            #expect(try await world.server.get(path, headers: headers).status == 200)
            #expect(try await !world.isLive(token))
        }
    }
}
