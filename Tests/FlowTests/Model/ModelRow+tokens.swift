import JSON
import Storage
import TestSupport
import Testing
import Values

/// Rows about what disables, expires or narrows.
extension ModelRow {
    static let clientDisabled = ModelRow(
        number: 11,
        causes: [
            ModelCause("a client is disabled") { user in
                let (world, model) = (user.world, user.model)
                let client = try await model.app()
                let phone = try await PhoneTree(from: try await user.signIn(with: client), model)
                let others = try await Bystanders(of: user)
                let forIt = try await model.webView(boughtBy: others.phone, for: client)
                return ModelCause.Prepared(
                    members: phone.members() + [.session(.own("for it"), "a web view for the phone", forIt)]
                        + others.living,
                    deed: { try await world.change("clients", client.id, ["disabled": true]) },
                    undo: { try await world.change("clients", client.id, ["disabled": false]) })
            },
            ModelCause("a merchant is disabled") { user in
                let world = user.world
                let phone = try await PhoneTree(of: user)
                let browser = try await ModelPlace(in: try await user.browser(), user.model)
                let members =
                    phone.members(inWebViews: .inWebViews("merchant"), backends: .backends("merchant"))
                    + browser.gotMembers(passing: "", lasting: "", "a browser")
                    + [
                        Member(part: .own(), name: "the browser, at another merchant", fate: .lives) {
                            try await user.model.isSignedIn(browser.browser, at: world.rivalBackend)
                        }
                    ]
                return ModelCause.Prepared(
                    members: members,
                    deed: { try await world.change("merchants", world.merchant, ["disabled": true]) },
                    undo: { try await world.change("merchants", world.merchant, ["disabled": false]) })
            },
        ])

    static let sessionExpiry = ModelRow(
        number: 14,
        causes: [
            ModelCause("a session expires") { user in
                let tree = try await BrowserTree(of: user)
                var browser = tree.place.browser
                let token = try await user.model.frontChannelToken(in: &browser)
                return ModelCause.Prepared(
                    members: tree.place.members("session", "the browser")
                        + [
                            Member(part: .own("front-channel"), name: "a front-channel token") {
                                try await user.world.isLive(token)
                            },
                            .session(.own("session"), "the web view of passing tokens", tree.webView),
                            .held(.backends(), "the backend", tree.backend.held),
                        ]
                        + Member.got(.inWebViews(), in: "the web view of passing tokens", tree.webView, origin: .own())
                ) { user.world.server.clock.advance(by: .hours(2)) }
            }
        ])

    static let tokenEnd = ModelRow(
        number: 15,
        causes: [
            ModelCause("an access token is revoked") { user in
                let phone = try await PhoneTree(of: user)
                return ModelCause.Prepared(members: phone.membersWithoutToken) {
                    let held = phone.own.held
                    let form = [("token", held.accessToken), ("client_id", held.client.id)]
                    let revoked = try await user.world.server.post("/oauth/revoke", form: form)
                    #expect(revoked.status == 200, "\(revoked)")
                }
            },
            ModelCause("an access token expires") { user in
                let phone = try await PhoneTree(of: user)
                return ModelCause.Prepared(members: phone.membersWithoutToken) {
                    user.world.server.clock.advance(by: .minutes(61))
                }
            },
        ])

    static let clientNarrowed = ModelRow(
        number: 16,
        causes: [
            ModelCause("a client's secret is ended") { user in
                let world = user.world
                let client = try await world.confidential(["scope": "admin:merchant openid profile email"])
                let (admin, plain) = (
                    try await world.clientToken(client, scope: "admin:merchant"),
                    try await world.clientToken(client, scope: "profile")
                )
                let path = "/admin/v1/clients/\(client.id)/secrets"
                let list = try await world.server.get(path, bearer: world.admin)
                let old = try #require(list.json["items"]?.array?.first?["id"]?.string, "\(list)")
                let secret = try await world.server.send("POST", path, bearer: world.admin).require("client_secret")
                let phone = try await PhoneTree(
                    from: try await user.signIn(with: client.with(secret: secret)), user.model)
                let tokens = [
                    Member(part: .own("admin"), name: "a token for administration") {
                        try await world.server.get("/admin/v1/clients", bearer: admin).status == 200
                    },
                    Member(part: .own(), name: "the client's own token") {
                        try await world.introspect(plain, as: world.backend).json["active"] == true
                    },
                ]
                return ModelCause.Prepared(members: phone.members() + tokens) {
                    try await user.model.delete("clients/\(client.id)/secrets/\(old)")
                }
            },
            ModelCause("a scope is taken from a client") { user in
                let world = user.world
                let client = try await world.confidential(["scope": "openid profile email"])
                let phone = try await PhoneTree(from: try await user.signIn(with: client), user.model)
                let email = Member(part: .own("taken"), name: "the scope, in a token") {
                    let seen = try await world.introspect(phone.own.held.accessToken, as: world.backend)
                    return seen.json["scope"]?.string?.split(separator: " ").contains("email") == true
                }
                return ModelCause.Prepared(
                    members: [email] + phone.members(),
                    deed: { try await world.change("clients", client.id, ["scope": "openid profile"]) },
                    undo: { try await world.change("clients", client.id, ["scope": "openid profile email"]) })
            },
            ModelCause("an API is taken from a client") { user in
                let (world, api) = (user.world, "https://api.example/orders")
                let client = try await world.confidential(["scope": "openid email", "resources": [.string(api)]])
                var browser = try await user.browser()
                let code = try await browser.open(
                    world.authorizeAddress(["resource": api, "scope": "openid email"], for: client)
                ).requireRedirected("code")
                let token = try await world.redeemAuthorization(code, as: client).require("access_token")
                let phone = try await PhoneTree(from: try await user.signIn(with: client), user.model)
                let held = Member(part: .own("taken"), name: "a token for the API") {
                    try await world.introspect(token, as: client).json["active"] == true
                }
                return ModelCause.Prepared(
                    members: [held] + phone.members(),
                    deed: { try await world.change("clients", client.id, ["resources": []]) },
                    undo: { try await world.change("clients", client.id, ["resources": [.string(api)]]) })
            },
        ])
}

extension PhoneTree {
    /// The phone's access token apart from its sign-in, and all that came from it.
    fileprivate var membersWithoutToken: [Member] {
        let held = own.held
        return [
            Member(part: .own("token"), name: "the access token") { try await held.world.isLive(held.accessToken) },
            Member(part: .own(), name: "the phone") { try await held.canRefresh() },
        ] + members().filter { $0.name != "the phone" }
    }
}

extension ModelWorld {
    /// A token that comes with the authorization response, and would live for a month.
    fileprivate func frontChannelToken(in browser: inout Browser) async throws -> String {
        let client = try await world.website([
            "grant_types": ["implicit"], "response_types": ["id_token token"], "access_token_lifetime": 2_592_000,
        ]).actor
        let answer = try await browser.open(
            world.authorizeAddress(
                ["response_type": "id_token token", "scope": "openid", "nonce": "n-1"], for: client))
        let fragment = try #require(answer.header("location")?.split(separator: "#").last, "\(answer)")
        let pair = try #require(fragment.split(separator: "&").first { $0.hasPrefix("access_token=") }, "\(answer)")
        return String(pair.dropFirst("access_token=".count))
    }
}
