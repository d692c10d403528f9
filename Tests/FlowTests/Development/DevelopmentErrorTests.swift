import JSON
import TestSupport
import Testing

@Suite("Development mode: an error in place of a code")
struct DevelopmentErrorTests {
    private static let errors = [
        "access_denied", "invalid_request", "unauthorized_client", "invalid_scope", "server_error",
        "temporarily_unavailable", "login_required", "interaction_required", "consent_required",
    ]

    @Test("the page offers each error; it reaches the app with its state, and nobody is signed in", arguments: errors)
    func each(error: String) async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            var developer = Developer(world)
            let page = try await developer.page(at: world.authorizeAddress())
            let offered = page.body.matches(of: /<option>([^<]+)<\/option>/).map { String($0.output.1) }
            #expect(offered == Self.errors)
            let answer = try await developer.refuse(world.authorizeAddress(), with: error)
            #expect(answer.status == 302)
            #expect(answer.header("location")?.hasPrefix("https://loom.example/in?error=\(error)&") == true)
            #expect(answer.redirected("error") == error)
            #expect(answer.redirected("state") == "xyz")
            #expect(answer.redirected("iss") == "http://spindle.test")
            let told = error == "invalid_request" ? "User failed authentication" : "Chosen at the development sign-in."
            #expect(answer.redirected("error_description") == told)
            #expect(developer.browser.session == nil)
        }
    }

    @Test("a development error uses the response mode of its request", arguments: Backend.available)
    func modes(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let fragment = try await developer.refuse(
                world.authorizeAddress(["response_mode": "fragment"]), with: "access_denied")
            #expect(fragment.fragment["error"] == "access_denied")
            let post = try await developer.refuse(
                world.authorizeAddress(
                    ["response_mode": "form_post", "redirect_uri": World.webview]), with: "login_required")
            #expect(post.formAction == World.webview)
            #expect(post.fields["error"] == "login_required" && post.fields["state"] == "xyz")
        }
    }

    @Test(
        "only the listed errors are offered, and only for a request that may be answered", arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let unknown = try await developer.refuse(world.authorizeAddress(), with: "anything")
            #expect(unknown.status == 400 && unknown.header("location") == nil)
            let page = try await developer.page(at: world.authorizeAddress())
            try await world.change("clients", world.app.id, ["redirect_uris": ["https://loom.example/moved"]])
            let refused = try await developer.browser.submit(page, ["outcome": "error", "error": "access_denied"])
            #expect(refused.status == 400 && refused.header("location") == nil)
            #expect(refused.body.contains("The address to return to is not registered"))
            let nowhere = try await developer.browser.submit(
                page, ["continue": "https://evil.example/", "outcome": "error", "error": "access_denied"])
            #expect(nowhere.status == 400 && nowhere.header("location") == nil)
        }
    }
}
