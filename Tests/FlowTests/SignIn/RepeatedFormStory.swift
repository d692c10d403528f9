import JSON
import Mail
import TestSupport
import Testing
import Values

/// A form with a mailed code, a mailed link, or the page that offers to keep an account: ready to be sent.
struct RepeatedForm: Sendable {
    var visitor: BrowserUser
    let page: Answer
    let fields: [String: String]

    /// The ways to a form whose answer signs in.
    enum Way: String, CaseIterable, Sendable {
        case signIn, signUp, signUpLink, signUpLinkElsewhere, reset, confirmAddress, restore

        /// Whether another browser can open it, with what was mailed.
        var isLink: Bool { self != .signIn && self != .signUp && self != .restore }
        var newcomer: String { "grace@example.com" }
        var user: String { self == .signIn || self == .reset || self == .restore ? World.email : newcomer }

        func form(_ world: World) async throws -> RepeatedForm {
            var visitor = BrowserUser(world)
            switch self {
            case .signIn:
                let login = try await visitor.browser.open("/login")
                let page = try await visitor.press(login, action: "/login/code", ["email": World.email])
                return RepeatedForm(visitor: visitor, page: page, fields: ["code": try await code(world)])
            case .signUp:
                let page = try await visitor.signUp(newcomer)
                return RepeatedForm(visitor: visitor, page: page, fields: ["code": try await code(world)])
            case .signUpLink:
                _ = try await visitor.signUp(newcomer)
                let page = try await visitor.browser.open(try await link(world))
                return RepeatedForm(visitor: visitor, page: page, fields: [:])
            case .signUpLinkElsewhere:
                var other = BrowserUser(world)
                _ = try await other.signUp(newcomer)
                let page = try await visitor.browser.open(try await link(world))
                return RepeatedForm(visitor: visitor, page: page, fields: ["password": World.password])
            case .reset:
                _ = try await visitor.fill("/password", ["email": World.email])
                let page = try await visitor.browser.open(try await link(world))
                return RepeatedForm(visitor: visitor, page: page, fields: ["password": "a brand new loom"])
            case .confirmAddress:
                let token = try await world.clientToken(try await world.spidBackend())
                let made = try await world.api("signup", token, ["email": newcomer, "password": World.password])
                #expect(made.status == 201, "\(made)")
                let page = try await visitor.browser.open(try await link(world))
                return RepeatedForm(visitor: visitor, page: page, fields: ["password": World.password])
            case .restore:
                var leaving = try await world.signedIn()
                _ = try await leaving.fill("/account/delete", ["current_password": World.password])
                _ = try await world.server.mail.letter(to: World.email)
                let page = try await visitor.fill("/login", ["email": World.email, "password": World.password])
                return RepeatedForm(visitor: visitor, page: page, fields: ["decision": "keep"])
            }
        }

        private func code(_ world: World) async throws -> String {
            try #require(try await world.server.mail.letter(to: user).code)
        }

        private func link(_ world: World) async throws -> String {
            try #require(try await world.server.mail.letter(to: user).link(containing: "/"))
                .replacing("http://spindle.test", with: "")
        }
    }

    /// Sends the form. Its answer gets lost: `visitor` keeps no cookie of it.
    func sendInVain() async throws -> (answer: Answer, browser: BrowserUser) {
        var lost = visitor
        return (try await lost.browser.submit(page, fields), lost)
    }

    mutating func send(_ changes: [String: String] = [:]) async throws -> Answer {
        try await visitor.browser.submit(page, fields.merging(changes) { $1 })
    }
}
