import Foundation

/// An app for phones, as SPiD's guide on login has it. `phone native` asks for the password itself, `phone web` sends
/// the person to a browser, `phone facebook` knows them from Facebook; everything after that is the same.
@main struct Phone {
    private enum Way: String { case native, web, facebook }

    private static let comesBack = "spid-example://login"
    private static let leaves = "spid-example://logout"

    private let settings: Settings
    private let webView = WebView()
    private var spid: SPiD { settings.spid }
    private var backend: Backend { settings.backend }

    static func main() async {
        do {
            guard let way = CommandLine.arguments.dropFirst().first.flatMap(Way.init) else {
                throw Unexpected("phone native, phone web or phone facebook")
            }
            try await Phone(settings: Settings(ProcessInfo.processInfo.environment)).run(way)
        } catch {
            tell("FAILED: \(error)")
            exit(1)
        }
    }

    /// The whole of the guide, from sign-in to log-out.
    private func run(_ way: Way) async throws {
        var tokens =
            switch way {
            case .native: try await signInNatively(settings.username, settings.password)
            case .web: try await signInByBrowser()
            case .facebook: try await signInWithFacebook()
            }
        tell("   user \(tokens.userId), for \(tokens.expiresIn) s")

        step("The access token is renewed")
        tokens = try await spid.refresh(tokens)

        step("The backend gets a code, and gives a token of its own for it")
        let code = try await spid.code(for: backend.clientID, tokens)
        let session = try await backend.signIn(code: code)
        let greeting = try await backend.greeting(session)
        try expect(greeting.userId == tokens.userId, "the backend knows \(greeting.name), user \(greeting.userId)")

        step("The web view meets the sign-in page; the app signs it in")
        try await signInWebView(tokens)
        let cookie = webView.cookieNames(for: spid.server).first { $0.hasSuffix("spindle_session") }
        try expect(cookie != nil, "the web view has the cookie \(cookie ?? "")")
        let user = try await webView.open(spid.server.appending(path: "login")).text
        try expect(user.contains("signed in"), "SPiD's own page says so too")

        step("Logging out: first with SPiD, then with the backend")
        switch way {
        case .native, .facebook: try await spid.logOut(tokens)
        case .web: try signOutOfBrowser(tokens)
        }
        try await expectRefusal("nothing can be renewed", 400, "invalid_grant") { try await spid.refresh(tokens) }
        try await expectRefusal("the access token is dead", 401, "invalid_token") { try await spid.logOut(tokens) }
        try await expectSignInPage()
        try expect(try await backend.greeting(session).userId == tokens.userId, "the backend has its own session still")
        try await backend.logOut(session)
        try await expectRefusal("and now has not", 401) { try await backend.greeting(session) }
    }

    // MARK: - Three ways to sign in

    private func signInNatively(_ username: String, _ password: String) async throws -> SPiD.Tokens {
        step("The app asks for the password and signs in")
        try await expectRefusal("a wrong password has its own error", 400, "invalid_user_credentials") {
            try await spid.tokens(username: username, password: "not " + password)
        }
        return try await spid.tokens(username: username, password: password)
    }

    private func signInByBrowser() async throws -> SPiD.Tokens {
        step("The app sends the person to the browser, which comes back with a code")
        let state = UUID().uuidString
        let answer = try Browser.open(spid.signInPage(returningTo: Self.comesBack, state: state))
        try expect(answer["state"] == state, "the answer is to our question")
        guard let code = answer["code"] else { throw Unexpected("no code: \(answer["error"] ?? "no error either")") }
        return try await spid.tokens(code: code, redirectURI: Self.comesBack)
    }

    private func signInWithFacebook() async throws -> SPiD.Tokens {
        step("The app knows the person from Facebook; SPiD does not yet")
        guard let (person, secret) = settings.facebook else { throw Unexpected("FACEBOOK_TOKEN is not set") }
        try await expectRefusal("nobody here is that person", 400, "unknown_user") {
            try await spid.tokens(person, signSecret: secret)
        }
        try await spid.register(person, signSecret: secret)
        return try await spid.tokens(person, signSecret: secret)
    }

    /// The browser has a session of its own. One visit there ends both it and what the token's own call would end.
    private func signOutOfBrowser(_ tokens: SPiD.Tokens) throws {
        _ = try Browser.open(spid.signOutPage(returningTo: Self.leaves, tokens))
    }

    // MARK: - The web view

    /// Opens the backend's page. It sends the web view to sign in, which is the app's cue: it stops there, opens a
    /// session page instead, and that goes on to the page that was wanted.
    private func signInWebView(_ tokens: SPiD.Tokens) async throws {
        guard case .stopped = try await webView.open(backend.page, stoppingAt: isSignInPage) else {
            throw Unexpected("the web view is signed in already")
        }
        let page = backend.page.absoluteString
        let session = try await spid.sessionPage(for: backend.clientID, returningTo: page, tokens)
        let text = try await webView.open(session).text
        try expect(text.contains("user \(tokens.userId)"), "the page says: \(text.heading)")
    }

    private func expectSignInPage() async throws {
        guard case .page(let address, let text) = try await webView.open(backend.page), isSignInPage(address) else {
            throw Unexpected("the web view is signed in still")
        }
        try expect(text.contains(#"type="password""#), "the web view is asked for the password")
    }

    private func isSignInPage(_ address: URL) -> Bool {
        address.host == spid.server.host && address.port == spid.server.port && address.path == "/flow/login"
    }
}
