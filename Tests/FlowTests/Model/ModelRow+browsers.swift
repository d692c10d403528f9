import JSON
import Storage
import TestSupport
import Testing
import Values

/// Rows about one session.
extension ModelRow {
    static let browserSignOut = ModelRow(
        number: 4,
        causes: [
            ModelCause("a browser signs out") { user in
                let tree = try await BrowserTree(of: user)
                return try await end(tree, user) { others in
                    var browser = tree.place.browser
                    _ = try await browser.submit(try await browser.open("/logout"))
                }
            },
            ModelCause("a session is ended on the account page") { user in
                let tree = try await BrowserTree(of: user)
                return try await end(tree, user) { others in
                    var other = BrowserUser(user.world)
                    other.browser = others.browser
                    _ = try await other.change("sessions/end", ["session": tree.place.session])
                }
            },
            ModelCause("the 101st session") { user in
                let tree = try await BrowserTree(of: user)
                user.world.server.clock.advance(by: .minutes(2))
                return try await end(tree, user) { _ in
                    try await user.makeSessions(98)
                    _ = try await user.browser()
                }
            },
            ModelCause("a web view signs out") { user in
                let phone = try await Branch(of: try await user.signInOnPhone(), user.model)
                let tree = try await BrowserTree(phone.webView)
                var prepared = try await end(
                    tree, user, beside: [Member.held(.own(), "the phone", phone.held).always(.lives)]
                ) { _ in
                    var browser = tree.place.browser
                    _ = try await browser.submit(try await browser.open("/logout"))
                }
                prepared.callbacks = [.phone, .loom]
                return prepared
            },
        ])

    /// Ends the session of `tree` by `deed`.
    private static func end(
        _ tree: BrowserTree, _ user: ModelUser, beside more: [Member] = [],
        by deed: @escaping (Bystanders) async throws -> Void
    ) async throws -> ModelCause.Prepared {
        let others = try await Bystanders(of: user)
        return ModelCause.Prepared(
            members: tree.members() + others.living + more, callbacks: [.phone, .loom, .rival]
        ) { try await deed(others) }
    }

    static let displacement = ModelRow(
        number: 5,
        causes: [
            ModelCause("another user takes the browser's place") { user in
                let tree = try await BrowserTree(of: user)
                return try await end(tree, user) { _ in
                    let other = try await user.model.user("other-\(user.email)")
                    let code = try await user.world.exchange(
                        try await other.signInOnPhone().accessToken, for: user.world.app, type: "session",
                        redirectURI: World.webview
                    ).require("code")
                    var browser = tree.place.browser
                    let page = try await browser.open("/auth/session/\(code)")
                    let landing = try await browser.submit(page, ["decision": "allow"])
                    #expect(landing.status == 302, "\(landing)")
                }
            },
            ModelCause("another user signs in where a session rests") { user in
                let (phone, tree, rest) = try await resting(of: user)
                return try await end(tree, user, beside: [phone]) { _ in
                    let email = "other-\(user.email)"
                    _ = try await user.model.user(email)
                    try await rest(true)
                    var browser = tree.place.browser
                    try await browser.signIn(as: email)
                    try await rest(false)
                }
            },
            ModelCause("a fifth user is set aside") { user in
                let tree = try await BrowserTree(of: user)
                return try await end(tree, user) { _ in
                    var browser = tree.place.browser
                    for number in 1...5 {
                        let email = "other\(number)-\(user.email)"
                        _ = try await user.world.person(email)
                        let asks = user.world.authorizeAddress(["prompt": "select_account"])
                        let login = try await browser.pressAnother(on: try await browser.open(asks))
                        _ = try await browser.submit(login, ["email": email, "password": World.password])
                    }
                }
            },
            ModelCause("the client that a web view was for is deleted") { user in
                let world = user.world
                let client = try await world.website().actor
                let phone = try await user.signInOnPhone()
                let tree = try await BrowserTree(try await user.model.webView(boughtBy: phone, for: client))
                return try await end(
                    tree, user, beside: [Member.held(.own(), "the phone", phone).always(.lives)]
                ) { _ in
                    try await user.model.delete("clients/\(client.id)")
                }
            },
        ])

    /// A web view that rests when its client is disabled, by `rest`, and the phone whose token bought it, which lives.
    private static func resting(
        of user: ModelUser
    ) async throws -> (phone: Member, tree: BrowserTree, rest: (Bool) async throws -> Void) {
        let world = user.world
        let client = try await world.website().actor
        let phone = try await user.signInOnPhone()
        let tree = try await BrowserTree(try await user.model.webView(boughtBy: phone, for: client))
        return (
            Member.held(.own(), "the phone", phone).always(.lives), tree,
            { isDisabled in
                try await world.change("clients", client.id, ["disabled": .bool(isDisabled)])
                world.server.clock.advance(by: .seconds(2))
            }
        )
    }

    static let oneClientLeft = ModelRow(
        number: 6,
        causes: [
            ModelCause("a user signs out of one client") { user in
                let (world, model) = (user.world, user.model)
                let other = try await world.website().actor
                let tree = try await BrowserTree(of: user)
                var browser = tree.place.browser
                let beside = try await model.got(by: other, "openid", in: &browser)
                let members = [Member.held(.own(), "passing tokens of another client", beside).always(.lives)]
                var prepared = try await end(tree, user, beside: members) { _ in
                    var browser = tree.place.browser
                    let path = "/logout?logout_scope=client&client_id=\(model.site.id)"
                    _ = try await browser.submit(try await browser.open(path))
                }
                prepared.left = tree.place.notice
                return prepared
            },
            ModelCause("a user signs out of one client where the session rests") { user in
                let (phone, tree, rest) = try await resting(of: user)
                var prepared = try await end(tree, user, beside: [phone]) { _ in
                    try await rest(true)
                    var browser = tree.place.browser
                    let path = "/logout?logout_scope=client&client_id=\(user.model.site.id)"
                    _ = try await browser.submit(try await browser.open(path))
                    try await rest(false)
                }
                prepared.left = tree.place.notice
                return prepared
            },
        ])

    static let everywhereElse = ModelRow(
        number: 7,
        causes: [
            ModelCause("sign out everywhere else") { user in
                let expired = try await user.expiredSession()
                let others = try await BrowserTree(of: user)
                let kept = try await ModelPlace(in: try await user.browser(), user.model)
                let webView = try await user.model.webView(boughtBy: kept.passing)
                let phone = try await PhoneTree(of: user)
                var here = BrowserUser(user.world)
                here.browser = kept.browser
                // All web views are other sessions, also those bought by tokens that stay.
                let webViews = [
                    (webView, "the web view of the kept session"), (phone.own.webView, "the web view of the phone"),
                    (phone.backend.webView, "the web view of the phone's backend"),
                    (others.backend.webView, "the web view of the backend"),
                    (others.webViewOfLasting, "the web view of lasting tokens"),
                ].flatMap { place, name in place.members("others", name) }
                let ended =
                    others.place.members("others", "the browser")
                    + others.webView.members(
                        .own("others"), inWebViews: .inWebViews(), "the web view of passing tokens")
                    + expired.gotMembers(passing: "passing", lasting: "lasting", "an expired session")
                    + [.held(.backends(), "the backend", others.backend.held)]
                let living = [
                    Member(part: .own("kept"), name: "the kept session") {
                        try await here.isSignedIn()
                    },
                    .held(.own("kept"), "passing tokens of the kept session", kept.passing),
                    .held(.own("kept"), "lasting tokens of the kept session", kept.lastingOfApp),
                    Member(part: .own("old cookie"), name: "the old cookie") { try await kept.isLive() },
                    Member.held(.own(), "the phone", phone.own.held).always(.lives),
                    Member.held(.own(), "the phone's backend", phone.backend.held).always(.lives),
                ]
                return ModelCause.Prepared(
                    members: ended + webViews + living, callbacks: [.phone, .loom, .rival]
                ) {
                    let done = try await here.change("sessions/end-others")
                    #expect(done.header("location") == "/account?done=sessions", "\(done)")
                }
            }
        ])
}

extension ModelUser {
    /// Makes sessions, in the database, that were used just now.
    fileprivate func makeSessions(_ count: Int) async throws {
        let (now, number) = (world.server.clock.now, try #require(Int64(id)))
        try await world.server.database.write { [id] db in
            for made in 0..<count {
                try db.execute(
                    """
                    INSERT INTO sessions (id, fingerprint, user_id, signed_in_at, created_at, seen_at, expires_at,
                        user_agent, ip_address, method, is_dated)
                    VALUES (\("made-\(id)-\(made)"), \("print-\(id)-\(made)"), \(number), \(now), \(now), \(now),
                        \(now + .hours(2)), 'Mozilla', '127.0.0.1', 'pwd', 1)
                    """)
            }
        }
    }
}
