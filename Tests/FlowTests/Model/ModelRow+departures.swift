import JSON
import Storage
import TestSupport
import Testing
import Values

/// Access that is taken from an app, or from all apps of a merchant.
extension ModelRow {
    static let revocation = ModelRow(
        number: 3,
        causes: [
            ModelCause("the user revokes an app of the merchant") { user in
                let scene = try await Departure(of: user, at: user.world.app)
                let members =
                    scene.phone.own.members(.own(), "the phone")
                    + [Member.held(.backends(), "the backend", scene.phone.backend.held)]
                    + scene.phone.backend.webView.displaced("confined", "the web view of the backend")
                    + [Member.held(.own(), "another app", scene.other).always(.lives)]
                    + scene.viewForIt.displaced("for it", "a web view for the phone")
                    + scene.viewForAnother.displaced("confined", "a web view for another client")
                    + [try await user.link(.own("confined"))]
                    + scene.browser.members(.own(), "a browser").living
                return ModelCause.Prepared(members: members, callbacks: [.phone]) {
                    var page = BrowserUser(user.world)
                    page.browser = scene.browser.browser
                    let done = try await page.change("apps/revoke", ["client": scene.client.id])
                    #expect(done.header("location") == "/account?done=app", "\(done)")
                }
            },
            ModelCause("a merchant removes a user") { user in
                let scene = try await Departure(of: user, at: user.world.app)
                let (inWebViews, world) = (Member.Part.inWebViews("removed"), user.world)
                let members =
                    scene.phone.members(inWebViews: inWebViews, backends: .backends("removed"))
                    + [.held(.own(), "another app", scene.other)]
                    + scene.viewForIt.members(.own("for it"), inWebViews: inWebViews, "a web view for the phone")
                    + scene.viewForAnother.members(
                        .own("confined"), inWebViews: inWebViews, "a web view for another client")
                    + [
                        try await user.link(.own("confined")),
                        Member.session(.own(), "a browser", scene.browser).always(.lives),
                        .held(.own(), "the site's tokens in a browser", scene.browser.passing),
                        .held(.own(), "an app's tokens in a browser", scene.browser.lastingOfApp),
                        Member.held(.own(), "another merchant's tokens", try await user.signIn(at: .rival))
                            .always(.lives),
                    ]
                return ModelCause.Prepared(members: members, callbacks: [.phone, .loom]) {
                    let administrator = try await world.confidential([
                        "scope": "admin:merchant", "grant_types": ["client_credentials"],
                    ])
                    let token = try await world.clientToken(administrator, scope: "admin:merchant")
                    try await user.model.delete("users/\(user.id)", by: token)
                }
            },
            ModelCause("a client is deleted") { user in
                let scene = try await Departure(of: user, at: try await user.model.app())
                let members =
                    scene.phone.members() + [Member.held(.own(), "another app", scene.other).always(.lives)]
                    + scene.viewForIt.displaced("for it", "a web view for the phone")
                    + scene.viewForAnother.members(.own(), "a web view for another client").living
                    + scene.browser.members(.own(), "a browser").living
                return ModelCause.Prepared(members: members, callbacks: [.loom]) {
                    try await user.model.delete("clients/\(scene.client.id)")
                }
            },
            ModelCause("the user revokes a third party's app") { user in
                let world = user.world
                let stranger = try await world.stranger()
                var page = BrowserUser(world)
                page.browser = try await user.browser()
                let asked = try await page.browser.open(world.authorizeAddress(["scope": "profile"], for: stranger))
                let allowed = try await world.allow(asked, in: &page.browser, ticking: ["profile"])
                let tokens = try await world.redeemAuthorization(try allowed.requireRedirected("code"), as: stranger)
                let phone = try await user.signInOnPhone()
                let view = try await user.model.webView(boughtBy: phone, for: stranger)
                let others = try await Bystanders(of: user)
                let members =
                    [.held(.own(), "the third party's tokens", try Held(client: stranger, world, tokens))]
                    + view.displaced("for it", "a web view for the third party")
                    + [Member.held(.own(), "the phone that bought it", phone).always(.lives)] + others.living
                return ModelCause.Prepared(members: members) {
                    let done = try await page.change("apps/revoke", ["client": stranger.id])
                    #expect(done.header("location") == "/account?done=app", "\(done)")
                }
            },
        ])

    /// What a user has at a merchant, one of whose apps loses its access.
    private struct Departure {
        let client: World.Actor
        let phone: PhoneTree
        /// Tokens of another app of the merchant, and web views that they bought.
        let other: Held
        let viewForIt: ModelPlace
        let viewForAnother: ModelPlace
        let browser: ModelPlace

        /// - Parameter client: the phone's app.
        init(of user: ModelUser, at client: World.Actor) async throws {
            let model = user.model
            let another = try await model.app()
            self.client = client
            phone = try await PhoneTree(from: try await user.signIn(with: client), model)
            other = try await user.signIn(with: another)
            viewForIt = try await model.webView(boughtBy: other, for: client)
            viewForAnother = try await model.webView(boughtBy: other, for: another)
            browser = try await ModelPlace(in: try await user.browser(), model)
        }
    }
}

extension ModelUser {
    /// A link of this user that a merchant's client made, good at Loom alone.
    func link(_ part: Member.Part) async throws -> Member {
        let made = try await World.make(
            world.server, world.admin, "issuers",
            [
                "merchant_id": .string(world.merchant), "issuer": .string("https://issuer.example/\(id)"),
                "secret": .string(String(repeating: "s", count: 32)),
            ])
        let (issuer, number) = (try made.require("id"), try #require(Int64(id)))
        try await world.server.database.write { db in
            _ = try db.execute(
                """
                INSERT INTO issuer_subjects (issuer_id, subject, user_id, is_confined, created_at)
                VALUES (\(issuer), 'kari', \(number), 1, 1)
                """)
        }
        return Member(part: part, name: "a link that a client made") {
            try await world.count("issuer_subjects WHERE issuer_id = '\(issuer)'") == 1
        }
    }
}

extension ModelPlace {
    /// A session whose source is gone, and what was got in it (row 5).
    func displaced(_ word: String, _ name: String) -> [Member] {
        [
            .session(.own(word), name, self),
            Member.held(.own(), "passing tokens in \(name)", passing).always(.ends),
            Member.held(.own(), "an app's lasting tokens in \(name)", lastingOfApp).always(.lives),
            Member.held(.own(), "a backend's lasting tokens in \(name)", lastingOfBackend).always(.lives),
        ]
    }
}
