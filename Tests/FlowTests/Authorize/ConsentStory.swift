import JSON
import Storage
import TestSupport

extension World {
    /// A third-party client of Loom: it must ask for consent.
    func stranger(_ changes: KeyValuePairs<String, JSON> = [:]) async throws -> Actor {
        let members: [JSON.Member] = [
            .init("merchant_id", .string(merchant)), .init("client_name", "Stranger"), .init("first_party", false),
            .init("redirect_uris", ["https://stranger.example/back", "https://stranger.example/cancelled"]),
            .init("grant_types", ["authorization_code", "refresh_token"]), .init("scope", "openid profile email"),
        ]
        let changed = Set(changes.map(\.key))
        return try await Self.client(
            server, admin,
            .object(members.filter { !changed.contains($0.name) } + changes.map { .init($0.key, $0.value) }))
    }

    /// Submits a consent page with `decision` and the boxes of `scopes` ticked, as a browser sends it; `over` replaces
    /// hidden fields.
    func answer(
        _ page: Answer, in browser: Browser, _ decision: String, ticking scopes: [String] = [],
        over: [String: String] = [:], headers: [String: String] = [:]
    ) async throws -> Answer {
        let hidden = page.fields.filter { $0.key != "scope" }.merging(over) { $1 }.sorted { $0.key < $1.key }
        let required = page.fields["scope"].map { [("scope", $0)] } ?? []
        let ticked = scopes.map { ("scope", $0) } + [("decision", decision)]
        return try await server.post(
            "/oauth/consent", form: hidden.map { ($0.key, $0.value) } + required + ticked, cookies: browser.cookies,
            headers: headers)
    }

    /// Allows what `page` asks for and goes back to the app.
    func allow(_ page: Answer, in browser: inout Browser, ticking scopes: [String]) async throws -> Answer {
        let answered = try await answer(page, in: browser, "allow", ticking: scopes)
        guard answered.status == 303 else { return answered }
        return try await browser.open(answered.header("location") ?? "/nowhere")
    }

    /// The number of rows in `consents`.
    func consents() async throws -> Int {
        try await server.database.read { db in try db.rows("SELECT scope FROM consents").count }
    }
}

extension Answer {
    /// The scopes of a consent page's boxes, in their order.
    var boxes: [String] {
        body.split(separator: "<").filter { $0.contains("type=\"checkbox\"") && $0.contains("name=\"scope\"") }
            .compactMap { tag in
                tag.firstRange(of: "value=\"").map { String(tag[$0.upperBound...].prefix { $0 != "\"" }) }
            }
    }
}
