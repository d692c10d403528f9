import JSON
import TestSupport
import Testing

/// A browser that goes between the pages of a site, the host of that site which leads here, and our own host. It keeps
/// the cookies of the two hosts apart.
struct SiteBrowser {
    static let origin = "https://www.loom.example"
    static let host = "id.loom.example"
    static let page = origin + "/news/1"

    let world: World
    let client: World.Actor
    let host: String
    /// Its cookies at our own host.
    var home: Browser
    /// Its cookies at the host of the site.
    var there: Browser

    init(_ world: World, _ client: World.Actor, host: String = Self.host) {
        self.world = world
        self.client = client
        self.host = host
        home = Browser(world.server)
        there = Browser(world.server)
    }

    /// What the page is told by a fetch to the host of the site.
    mutating func ask(_ path: String = "/v2/session", as client: World.Actor? = nil) async throws -> Answer {
        let headers = ["Host": host, "Origin": Self.origin, "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-site"]
        let id = (client ?? self.client).id
        return try await there.open(
            "\(path)?client_sdrn=sdrn%3Aschibsted.com%3Aclient%3A\(id)&sdk_version=5.2.7&callback=site",
            headers: headers)
    }

    /// Where the page is sent by the answer, with what the SDK adds.
    func renewal(redirectURI: String = page, as client: World.Actor? = nil) -> String {
        "/session/renew?client_sdrn=sdrn%3Aschibsted.com%3Aclient%3A\((client ?? self.client).id)"
            + "&redirect_uri=\(TestServer.encode(redirectURI))&sdk_version=5.2.7&tabId=1"
    }

    /// Navigates to `path` at the host of the site.
    mutating func visit(_ path: String, at host: String? = nil) async throws -> Answer {
        try await there.open(path, headers: ["Host": host ?? self.host, "Sec-Fetch-Dest": "document"])
    }

    /// Goes to our own host: the answer leads back to the host of the site.
    mutating func leave(as client: World.Actor? = nil) async throws -> Answer {
        let away = try await visit(renewal(as: client))
        #expect(away.status == 303)
        return try await home.open(
            try #require(away.path(at: "http://spindle.test")), headers: ["Sec-Fetch-Dest": "document"])
    }

    /// The whole way, which ends at the page.
    mutating func renew(as client: World.Actor? = nil) async throws {
        let back = try await leave(as: client)
        #expect(back.status == 303)
        let end = try await visit(try #require(back.path(at: "http://\(host)")))
        #expect(end.status == 303 && end.header("location") == Self.page)
        #expect(end.header("referrer-policy") == "no-referrer" && end.header("cache-control") == "no-store")
    }
}

extension Answer {
    /// The path that it redirects to, if that is at `origin`.
    func path(at origin: String) -> String? {
        guard let location = header("location"), location.hasPrefix(origin + "/") else { return nil }
        return String(location.dropFirst(origin.count))
    }

    /// Whether the page is sent for a session, and told nothing else.
    var sendsForSession: Bool {
        status == 200 && json == ["redirectURL": .string("http://\(SiteBrowser.host)/session/renew")]
    }

    var isSignedOut: Bool { json["result"] == nil && json["userStatus"]?.string == "unknown" }
}

extension World {
    /// A SPiD-compatible client whose site has a host that leads here.
    func siteClient(_ host: String = SiteBrowser.host, of merchant: String? = nil) async throws -> Actor {
        try await spidBackend(
            ["web_origins": [.string(SiteBrowser.origin)], "session_hosts": [.string(host)]], of: merchant)
    }

    /// A browser in which Ada has used the client, with a session at the site's host.
    func siteBrowser(_ client: Actor) async throws -> SiteBrowser {
        var browser = SiteBrowser(self, client)
        try await browser.home.signIn()
        let code = try await browser.home.open(authorizeAddress(for: client)).requireRedirected("code")
        #expect(try await redeemAuthorization(code, as: client).status == 200)
        try await browser.renew()
        #expect(try await browser.ask().json["result"] == true)
        return browser
    }
}
