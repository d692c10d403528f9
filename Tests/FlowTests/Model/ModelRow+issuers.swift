import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

/// Rows about the method or the issuer by which a user signed in.
extension ModelRow {
    static let methodEnd = ModelRow(
        number: 9,
        causes: [
            ModelCause("another address") { user in
                try await user.world.change("users", user.id, ["email_verified": true])
                let (byIt, here) = (try await BrowserUser(byMailTo: user), try await BrowserUser(byMailTo: user))
                let phone = try await user.signInByMail()
                return try await end(user, of: byIt, phone, keeping: here, callbacks: .all) { here in
                    let email = "new-\(user.email)"
                    let page = try await here.browser.open("/account")
                    let asked = try await here.press(
                        page, action: "/account/email", ["email": email, "current_password": World.password])
                    let code = try #require(try await user.world.server.mail.letter(to: email).code)
                    let done = try await here.browser.submit(asked, ["code": code])
                    #expect(done.header("location") == "/account?done=email", "\(done)")
                }
            },
            ModelCause("a phone number is removed") { user in
                let world = user.world
                try await world.change("users", user.id, ["email_verified": true])
                try await world.verifiesPhone(as: user.email)
                let app = try await TextApp(world)
                let started = try await app.start().require("passwordless_token")
                let answer = try await app.redeem(started, try await world.textCode(), scope: "openid profile")
                let phone = try await PhoneTree(from: try Held(client: app.client, world, answer), user.model)
                let others = try await Bystanders(of: user)
                return ModelCause.Prepared(
                    members: phone.members(.own("by it")) + others.living, callbacks: [.phone, .loom, .rival]
                ) {
                    var here = BrowserUser(world)
                    here.browser = others.browser
                    let page = try await here.browser.open("/account/phones")
                    let removed = try await here.press(page, action: "/account/phones/remove")
                    #expect(removed.header("location") == "/account/phones?done=removed", "\(removed)")
                }
            },
            ModelCause("an issuer is unlinked") { user in
                let facebook = try await user.model.registerFacebook()
                let byIt = try await BrowserUser(user, by: facebook)
                let here = try await BrowserUser(user, by: facebook)
                let phone = try await user.signIn(by: facebook)
                return try await end(user, of: byIt, phone, keeping: here) { here in
                    let done = try await here.change(
                        "links/remove", ["issuer": facebook.issuer, "subject": user.id])
                    #expect(done.header("location") == "/account?done=link", "\(done)")
                }
            },
        ], usesFacebook: true)

    /// Ends the method that opened `browser` and `phone`, from a browser that it opened too.
    private static func end(
        _ user: ModelUser, of browser: BrowserUser, _ phone: Held, keeping here: BrowserUser,
        callbacks: Set<ModelWorld.Receiver> = [], by deed: @escaping (inout BrowserUser) async throws -> Void
    ) async throws -> ModelCause.Prepared {
        let model = user.model
        let tree = try await BrowserTree(try await ModelPlace(in: browser.browser, model))
        let own = try await PhoneTree(from: phone, model)
        let kept = try await BrowserTree(try await ModelPlace(in: here.browser, model))
        let others = try await Bystanders(of: user)
        var here = here
        here.browser = kept.place.browser
        let session = Member(part: .own("kept"), name: "the session where it is done") {
            try await here.isSignedIn()
        }
        let inKept = kept.place.gotMembers(passing: "kept", lasting: "kept", "the session where it is done")
        let fromKept =
            kept.webView.members(.own("kept"), "a web view of that session's tokens")
            + kept.webViewOfLasting.members(.own("kept"), "a web view of that session's lasting tokens")
            + kept.backend.members(.own("kept"), "the backend of that session's tokens")
        return ModelCause.Prepared(
            members: tree.members(session: "by it", passing: "by it", lasting: "by it")
                + own.members(.own("by it")) + [session] + inKept + fromKept + others.living,
            callbacks: callbacks
        ) { try await deed(&here) }
    }

    static let issuerDeletion = ModelRow(
        number: 10,
        causes: [
            ModelCause("an issuer is deleted") { user in
                let scene = try await IssuerScene(of: user)
                let members = try await scene.members(of: user) + [scene.passingElsewhere.always(.ends)]
                return ModelCause.Prepared(members: members) {
                    try await user.model.delete("issuers/\(scene.issuer)")
                }
            },
            ModelCause("a merchant is deleted") { user in
                let (scene, model) = (try await IssuerScene(of: user), user.model)
                let own = scene.tree.place.notice
                let members = scene.ownMembers.map { member in
                    var member = member
                    // The client that would be told is deleted with its merchant.
                    member.notices = member.notices.filter { $0.client != own.client }
                    return member
                }
                return ModelCause.Prepared(members: members + [scene.passingElsewhere.always(.ends)]) {
                    try await model.delete("merchants/\(user.world.merchant)")
                }
            },
        ], usesFacebook: true)

    static let issuerDisabled = ModelRow(
        number: 12,
        causes: [
            ModelCause("an issuer is disabled") { user in
                let scene = try await IssuerScene(of: user)
                return ModelCause.Prepared(
                    members: try await scene.members(of: user) + [scene.passingElsewhere.always(.lives)],
                    deed: { try await user.world.change("issuers", scene.issuer, ["disabled": true]) },
                    undo: { try await user.world.change("issuers", scene.issuer, ["disabled": false]) })
            }
        ], usesFacebook: true)

    static let wordTakenBack = ModelRow(
        number: 13,
        causes: [
            ModelCause("an issuer's word is taken back") { user in
                let (scene, world) = (try await IssuerScene(of: user), user.world)
                let browser = scene.tree.place.browser
                let session = [
                    Member(part: .own(), name: "the browser, at the issuer's merchant") {
                        try await user.model.isSignedIn(browser, at: world.backend)
                    },
                    Member(part: .own("session elsewhere"), name: "the browser, at another merchant") {
                        try await user.model.isSignedIn(browser, at: world.rivalBackend)
                    },
                ]
                let members =
                    session + scene.tree.members(session: "", passing: "", lasting: "").dropFirst()
                    + scene.phone.members()
                    + (scene.elsewhere + [scene.passingElsewhere]).map { $0.always(.lives) }
                    + (try await Bystanders(of: user)).living
                return ModelCause.Prepared(
                    members: members,
                    deed: { try await world.change("issuers", scene.issuer, ["signs_in_everywhere": false]) },
                    undo: {
                        try await world.change(
                            "issuers", scene.issuer,
                            [
                                "signs_in_everywhere": true,
                                "client_id": .string(ProviderStandIn.facebookApp),
                            ])
                    })
            }
        ], usesFacebook: true)

    /// What a user has by sign-ins with Facebook: a session, good everywhere, and a phone of its merchant.
    private struct IssuerScene {
        let issuer: String
        let tree: BrowserTree
        let phone: PhoneTree
        /// Another merchant's lasting tokens that were got in the session, and the web view that they bought.
        let elsewhere: [Member]
        /// Its passing tokens, which end with the session.
        let passingElsewhere: Member
        private let model: ModelWorld
        private let notice: ModelWorld.Message

        init(of user: ModelUser) async throws {
            let (model, world) = (user.model, user.world)
            let facebook = try await model.registerFacebook()
            self.model = model
            issuer = facebook.issuer
            let client = try await world.confidential(
                ["scope": "openid profile offline_access", "backchannel_logout_uri": ModelWorld.unheard],
                of: world.rival)
            let place = try await ModelPlace(in: try await BrowserUser(user, by: facebook).browser, model)
            var browser = place.browser
            let passing = try await model.got(by: client, "openid", in: &browser)
            passingElsewhere = .held(.own("elsewhere"), "another merchant's passing tokens in the browser", passing)
            let held = try await model.got(by: client, "openid offline_access", in: &browser)
            notice = ModelWorld.Message(kind: "notice", client: client.id, session: place.session)
            let code = try await world.exchange(
                held.accessToken, for: client, type: "session", redirectURI: client.redirectURI
            ).require("code")
            var opening = Browser(world.server)
            _ = try await opening.open("/auth/session/\(code)")
            let webView = opening
            elsewhere = [
                .held(.own("elsewhere"), "another merchant's tokens in the browser", held),
                Member(part: .own("elsewhere"), name: "the web view of another merchant's tokens") {
                    try await model.isSignedIn(webView, at: world.rivalBackend)
                },
            ]
            tree = try await BrowserTree(place)
            phone = try await PhoneTree(from: try await user.signIn(by: facebook), model)
        }

        /// All that rests on the issuer's word.
        var ownMembers: [Member] {
            let (browser, rival) = (tree.place.browser, model.world.rivalBackend)
            var session = Member(part: .own("session"), name: "the browser") { [model] in
                try await model.isSignedIn(browser, at: rival)
            }
            session.notices = [tree.place.notice, notice]
            return [session] + tree.members(session: "session", passing: "there", lasting: "there").dropFirst()
                + phone.members(.own("there")) + elsewhere
        }

        func members(of user: ModelUser) async throws -> [Member] {
            ownMembers + (try await Bystanders(of: user)).living
        }
    }
}

extension BrowserUser {
    /// A browser in which the user signed in by a mailed code.
    fileprivate init(byMailTo user: ModelUser) async throws {
        self.init(user.world)
        try await signInByMail(as: user.email)
    }

    /// A browser in which the user signed in by Facebook.
    fileprivate init(_ user: ModelUser, by facebook: ModelFacebook) async throws {
        self.init(user.world)
        try await facebook.knows(user)
        let page = try await browser.open(user.world.authorizeAddress())
        let departure = try await browser.follow(try page.requireLink(to: "/login/with/\(facebook.issuer)?"))
        let state = try departure.requireRedirected("state")
        let back = try await browser.open("/login/with/\(facebook.issuer)/callback?code=c&state=\(state)")
        try #require(back.status == 303, "\(back)")
    }
}

extension ModelUser {
    /// Signs in at an app by a mailed code.
    fileprivate func signInByMail() async throws -> Held {
        let client = try await world.spidBackend([
            "scope": "openid profile email",
            "grant_types": ["passwordless", "refresh_token", "authorization_code", "client_credentials"],
        ])
        let started = try await world.server.post(
            "/passwordless/start", ["client_id": client.id, "connection": "email", "locale": "en", "email": email])
        let code = try #require(try await world.server.mail.letter(to: email).code)
        let answer = try await world.server.post(
            "/oauth/ro",
            [
                "client_id": client.id, "client_secret": client.secret, "connection": "email", "code": code,
                "grant_type": "passwordless", "passwordless_token": try started.require("passwordless_token"),
                "scope": "openid",
            ])
        return try Held(client: client, world, answer)
    }

    /// Signs in at an app with Facebook's ID token.
    fileprivate func signIn(by facebook: ModelFacebook) async throws -> Held {
        try await facebook.knows(self)
        let client = try await IssuerStory.client(world, of: world.merchant)
        let answer = try await world.server.post(
            "/oauth/token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "client_id": client.id,
                "assertion": facebook.idToken(of: self, nonce: "n-1"), "nonce": "n-1",
            ])
        return try Held(client: client, world, answer)
    }
}
