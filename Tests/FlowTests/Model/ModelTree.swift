import TestSupport

/// A sign-in on a phone, with all that can come from it.
struct PhoneTree {
    let own: Branch
    let backend: Branch

    init(of user: ModelUser) async throws {
        try await self.init(from: try await user.signInOnPhone(), user.model)
    }

    init(from held: Held, _ model: ModelWorld) async throws {
        own = try await Branch(of: held, model)
        backend = try await Branch(of: try await model.backend(byCodeOf: held), model)
    }

    func members(
        _ part: Member.Part = .own(), inWebViews: Member.Part = .inWebViews(), backends: Member.Part = .backends()
    ) -> [Member] {
        own.members(part, inWebViews: inWebViews, "the phone")
            + backend.members(backends, inWebViews: inWebViews, "the backend")
    }
}

/// A session in a browser, with all that can come from it.
struct BrowserTree {
    let place: ModelPlace
    /// What the passing tokens bought.
    let webView: ModelPlace
    let backend: Branch
    /// What a backend's lasting tokens bought.
    let webViewOfLasting: ModelPlace

    init(of user: ModelUser) async throws {
        try await self.init(try await ModelPlace(in: try await user.browser(), user.model))
    }

    init(_ place: ModelPlace) async throws {
        let model = place.model
        self.place = place
        webView = try await model.webView(boughtBy: place.passing)
        backend = try await Branch(of: try await model.backend(byCodeOf: place.passing), model)
        webViewOfLasting = try await model.webView(boughtBy: place.lastingOfBackend)
    }

    /// With the words of the column about itself.
    func members(
        session: String = "session", passing: String = "passing", lasting: String = "lasting"
    ) -> [Member] {
        place.members(session, passing: passing, lasting: lasting, "the browser")
            + webView.members(.own(passing), "the web view of passing tokens")
            + backend.members(.backends(), "the backend of passing tokens")
            + webViewOfLasting.members(.own(lasting), "the web view of lasting tokens")
    }
}

/// What else a user has, which most causes are not about.
struct Bystanders {
    let phone: Held
    let browser: Browser
    /// What the site got in the browser.
    let passing: Held

    init(of user: ModelUser) async throws {
        phone = try await user.signInOnPhone()
        var browser = try await user.browser()
        passing = try await user.model.got(by: user.model.site, "openid", in: &browser)
        self.browser = browser
    }

    var living: [Member] {
        [
            .held(.own(), "another phone", phone),
            Member(part: .own(), name: "another browser") { [browser] in
                var browser = browser
                return try await browser.isSignedIn()
            },
            .held(.own(), "passing tokens in another browser", passing),
        ].living
    }
}
