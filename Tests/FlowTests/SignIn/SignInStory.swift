import TestSupport

/// A user with a browser, for tests of signing in and up.
struct BrowserUser {
    var browser: Browser
    let world: World

    init(_ world: World) {
        self.world = world
        browser = Browser(world.server)
    }

    /// Opens `path` and submits its first form with `fields`.
    mutating func fill(_ path: String, _ fields: [String: String]) async throws -> Answer {
        try await browser.submit(try await browser.open(path), fields)
    }

    /// Submits the first form of `page` to another action, as its second button does.
    mutating func press(_ page: Answer, action: String, _ fields: [String: String] = [:]) async throws -> Answer {
        try await browser.submit(page, fields, to: action)
    }

    /// Signs up, as far as the page that asks for the code.
    mutating func signUp(
        _ email: String, password: String = World.password, name: String = "", continueTo: String = ""
    ) async throws -> Answer {
        let path =
            continueTo.isEmpty ? "/signup" : "/signup?continue=\(try await world.begin(continueTo, in: &browser))"
        return try await fill(path, ["email": email, "password": password, "name": name])
    }

    /// Whether a session is open in this browser.
    mutating func isSignedIn() async throws -> Bool { try await browser.isSignedIn() }
}
