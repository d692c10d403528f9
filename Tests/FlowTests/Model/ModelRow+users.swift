import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

/// Everything that a user has.
extension ModelRow {
    static let everything = ModelRow(
        number: 8,
        causes: [
            ModelCause("a password reset") { user in
                try await user.isVerified()
                let all = try await Everything(of: user)
                return ModelCause.Prepared(members: all.membersWithoutKept, callbacks: .all) {
                    var reader = BrowserUser(user.world)
                    _ = try await reader.fill("/password", ["email": user.email])
                    let letter = try await user.world.server.mail.letter(to: user.email)
                    let link = try #require(letter.link(containing: "/password/reset/"))
                    let path = link.replacing("http://spindle.test", with: "")
                    let done = try await reader.fill(path, ["password": "another good loom"])
                    #expect(done.status == 303, "\(done)")
                }
            },
            ModelCause("administration sets a password") { user in
                try await user.isVerified()
                let all = try await Everything(of: user)
                return ModelCause.Prepared(members: all.membersWithoutKept, callbacks: .all) {
                    try await user.world.change("users", user.id, ["password": "another good loom"])
                }
            },
            ModelCause("the user is disabled") { user in
                let all = try await Everything(of: user)
                return ModelCause.Prepared(
                    members: all.membersWithoutKept, callbacks: .all,
                    deed: { try await user.world.change("users", user.id, ["disabled": true]) },
                    undo: { try await user.world.change("users", user.id, ["disabled": false]) })
            },
            ModelCause("the user leaves") { user in
                let all = try await Everything(of: user)
                var here = BrowserUser(user.world)
                here.browser = all.here.browser
                return ModelCause.Prepared(
                    members: all.membersWithoutKept, callbacks: .all,
                    deed: {
                        let gone = try await here.fill("/account/delete", ["current_password": World.password])
                        #expect(gone.status == 200, "\(gone)")
                    },
                    undo: {
                        var back = BrowserUser(user.world)
                        let asked = try await back.fill(
                            "/login", ["email": user.email, "password": World.password])
                        let stays = try await back.browser.submit(asked, ["decision": "keep"])
                        #expect(stays.status == 200 || stays.status == 303, "\(stays)")
                    })
            },
            ModelCause("an address is proved for the first time") { user in
                let all = try await Everything(of: user)
                let stranger = try await user.world.stranger()
                var other = BrowserUser(user.world)
                other.browser = try await user.browser()
                let page = try await other.browser.open(
                    user.world.authorizeAddress(["scope": "profile"], for: stranger))
                _ = try await user.world.allow(page, in: &other.browser, ticking: ["profile"])
                let consent = Member(part: .own("consents"), name: "a consent") {
                    try await user.world.count("consents WHERE user_id = \(user.id)") == 1
                }
                let members = all.membersWithoutKept + [consent, try await user.link(.own("consents"))]
                return ModelCause.Prepared(members: members, callbacks: .all) {
                    var reader = BrowserUser(user.world)
                    try await reader.signInByMail(as: user.email)
                }
            },
            ModelCause("a new password") { user in
                try await user.isVerified()
                // Last in its world, because the platform's token expires too.
                let expired = try await user.expiredSession()
                let all = try await Everything(of: user)
                var here = BrowserUser(user.world)
                here.browser = all.here.browser
                let ended = expired.gotMembers(passing: "sign-ins", lasting: "sign-ins", "an expired session")
                let kept = Member(part: .own("kept"), name: "the session where it is set") {
                    try await here.isSignedIn()
                }
                return ModelCause.Prepared(members: all.members + ended + [kept], callbacks: .all) {
                    let done = try await here.change(
                        "password", ["current_password": World.password, "new_password": "another good loom"])
                    #expect(done.header("location") == "/account?done=password", "\(done)")
                }
            },
        ])

    /// A user's sessions, phones, backends and web views.
    private struct Everything {
        let phone: PhoneTree
        let browser: ModelPlace
        /// The browser in which the user does it.
        let here: ModelPlace

        init(of user: ModelUser) async throws {
            phone = try await PhoneTree(of: user)
            browser = try await ModelPlace(in: try await user.browser(), user.model)
            here = try await ModelPlace(in: try await user.browser(), user.model)
        }

        /// All but the session that may be kept.
        var members: [Member] {
            phone.members(.own("sign-ins"))
                + browser.members("session", passing: "sign-ins", lasting: "sign-ins", "the browser")
                + here.gotMembers(passing: "sign-ins", lasting: "sign-ins", "the session where it is done")
        }

        var membersWithoutKept: [Member] {
            members + [.session(.own("session"), "the session where it is done", here)]
        }
    }
}

extension Set<ModelWorld.Receiver> {
    static let all = Set(ModelWorld.Receiver.allCases)
}

extension ModelUser {
    /// Sets the address to verified.
    fileprivate func isVerified() async throws {
        try await world.change("users", id, ["email_verified": true])
    }
}

extension BrowserUser {
    /// Signs in by a code that is sent to `email`.
    mutating func signInByMail(as email: String) async throws {
        let page = try await press(try await browser.open("/login"), action: "/login/code", ["email": email])
        let code = try #require(try await world.server.mail.letter(to: email).code)
        let done = try await browser.submit(page, ["code": code])
        try #require(done.status == 303, "\(done)")
    }
}
