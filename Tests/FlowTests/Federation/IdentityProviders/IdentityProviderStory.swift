import JSON
import TestSupport
import Testing

/// A Spindle whose users sign in at another Spindle: `here` sends them `there`, and takes them back.
struct IdentityProviderStory: Sendable {
    static let origin = "https://here.test"
    static let upstream = "http://upstream.test"
    static let settings = ["issuer": origin, "outbound_allow_private": "127.0.0.0/8"]

    let here: World
    let there: World
    /// The id of `there` at `here`.
    let issuer: String
    private let document: KeyHost

    static func with(
        _ backend: Backend, _ members: KeyValuePairs<String, JSON> = [:],
        _ story: (IdentityProviderStory) async throws -> Void
    ) async throws {
        try await World.with(backend, settings: settings) { here in
            try await World.with(backend, settings: ["issuer": upstream]) { there in
                try await story(try await IdentityProviderStory(here, there, members))
            }
        }
    }

    private init(_ here: World, _ there: World, _ members: KeyValuePairs<String, JSON>) async throws {
        self.here = here
        self.there = there
        document = try KeyHost(try await Self.document(of: there.server))
        issuer = try await here.issuer(
            discoveredAt: document.address,
            [.init("issuer", .string(Self.upstream)), .init("sign_in_name", "The Mill")].changed(members))
        let client = try await World.client(
            there.server, there.admin,
            [
                "merchant_id": .string(there.merchant), "client_name": "Spindle here",
                "redirect_uris": [.string("\(Self.origin)/login/with/\(issuer)/callback")],
                "grant_types": ["authorization_code"], "scope": "openid email profile",
            ])
        let changed = try await here.change(
            "issuers", issuer, ["client_id": .string(client.id), "client_secret": .string(client.secret)])
        try #require(changed.status == 200, "\(changed)")
    }

    /// The metadata of `server`, with the addresses at which it can be reached.
    private static func document(of server: TestServer) async throws -> JSON {
        let published = try await server.get("/.well-known/openid-configuration").json
        return .object(
            (published.members ?? []).map { member in
                guard member.name != "issuer", let text = member.value.string else { return member }
                return .init(member.name, .string(text.replacing(upstream, with: server.origin)))
            })
    }

    /// Opens the login page of an authorization request, and follows its button.
    func leave(_ browser: inout Browser, _ changes: KeyValuePairs<String, String> = [:]) async throws -> Answer {
        let page = try await browser.open(here.authorizeAddress(changes))
        return try await browser.follow(try page.requireLink(to: "/login/with/\(issuer)?"))
    }

    /// Signs in there, and returns the path that the browser is sent back to.
    func visit(
        _ departure: Answer, in browser: inout Browser, as email: String = World.email
    ) async throws -> String {
        let location = try #require(departure.header("location"))
        try #require(location.hasPrefix(there.server.origin), "\(location)")
        let page = try await browser.open(String(location.dropFirst(there.server.origin.count)))
        guard page.status == 200 else { return try page.requireWayBack() }
        let signedIn = try await browser.submit(page, ["email": email, "password": World.password])
        return try await browser.open(try #require(signedIn.header("location"))).requireWayBack()
    }

    /// Signs in there and comes back.
    func signIn(_ browser: inout Browser, as email: String = World.email) async throws -> Answer {
        let departure = try await leave(&browser)
        var other = Browser(there.server)
        return try await browser.open(try await visit(departure, in: &other, as: email))
    }
}

extension World {
    /// Registers an identity provider of the merchant.
    func issuer(
        discoveredAt address: String, _ members: [JSON.Member]
    ) async throws -> String {
        let usual: [JSON.Member] = [
            .init("merchant_id", .string(merchant)), .init("discovery_url", .string(address)),
            .init("client_id", "spindle-here"), .init("create_users", true),
        ]
        let made = try await Self.make(server, admin, "issuers", .object(usual.changed(members)))
        try #require(made.status == 201, "\(made)")
        return try made.require("id")
    }
}

extension [JSON.Member] {
    /// The members, with `others` replacing those of the same name.
    func changed(_ others: [JSON.Member]) -> [JSON.Member] {
        filter { member in !others.contains { $0.name == member.name } } + others
    }

    func changed(_ others: KeyValuePairs<String, JSON>) -> [JSON.Member] {
        changed(others.map { .init($0.key, $0.value) })
    }
}

extension Answer {
    /// The address of a link that begins with `prefix`.
    func link(to prefix: String) -> String? {
        body.split(separator: "href=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
            .first { $0.hasPrefix(prefix) }?.replacing("&amp;", with: "&")
    }

    func requireLink(to prefix: String) throws -> String { try #require(link(to: prefix), "\(self)") }

    /// The path here that the identity provider sends the browser back to.
    func requireWayBack() throws -> String {
        let location = try #require(header("location"), "\(self)")
        try #require(location.hasPrefix(IdentityProviderStory.origin), "\(location)")
        return String(location.dropFirst(IdentityProviderStory.origin.count))
    }
}
