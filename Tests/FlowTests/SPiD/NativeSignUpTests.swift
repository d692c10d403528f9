import JSON
import Mail
import TestSupport
import Testing

@Suite("SPiD's SDKs for phones sign a user up, with their own authorization URL as the way back")
struct NativeSignUpTests {
    private static let email = "grace@example.com"
    private static let password = "a quite unlikely loom"

    /// A phone in SPiD's ways, and what its SDK sends as `redirectUri`.
    struct SDK: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What is registered.
        let redirectURI: String
        let address: @Sendable (_ client: String) -> String
    }

    private static let sdks = [
        SDK(testDescription: "iOS", redirectURI: "loom://spid/login") { client in
            "http://spindle.test/flow/login?force=1&grant_type=authorization_code&platform=mobile&client_id=\(client)"
                + "&response_type=code&redirect_uri=loom%3A%2F%2Fspid%2Flogin"
        },
        SDK(testDescription: "Android", redirectURI: "loom://spid/login") { client in
            "http://spindle.test/flow/login?client_id=\(client)&redirect_uri=loom%3A%2F%2Fspid%2Flogin"
                + "&grant_type=authorization_code&response_type=code&platform=mobile&force=1"
        },
        SDK(testDescription: "Android, older", redirectURI: "loom://login") { client in
            "http://spindle.test/auth/login?client_id=\(client)&redirect_uri=loom%3A%2F%2Flogin"
                + "&grant_type=authorization_code&response_type=code&platform=mobile&force=1"
        },
    ]

    @Test("The link in a sign-up mail leads back to a phone's app with a code", arguments: sdks)
    func story(_ sdk: SDK) async throws {
        for backend in Backend.available {
            try await World.with(backend) { world in
                let phone = try await world.spidBackend(["redirect_uris": [.string(sdk.redirectURI)]])
                let made = try await world.api(
                    "signup", try await world.clientToken(phone),
                    ["email": Self.email, "password": Self.password, "redirectUri": sdk.address(phone.id)])
                #expect(made.status == 201, "\(made)")
                var visitor = BrowserUser(world)
                let letter = try await world.server.mail.letter(to: Self.email)
                let link = try #require(letter.link(containing: "/signup/address/"))
                let page = try await visitor.browser.open(link.replacing("http://spindle.test", with: ""))
                #expect(page.body.contains("Loom in SPiD&#39;s ways"))
                let done = try await visitor.browser.submit(page, ["password": Self.password])
                let back = try await visitor.browser.open(try #require(done.header("location")))
                #expect(back.header("location")?.hasPrefix(sdk.redirectURI + "?code=") == true, "\(back)")
                let token = try await world.server.post(
                    "/oauth/token",
                    [
                        "grant_type": "authorization_code", "code": try back.requireRedirected("code"),
                        "redirect_uri": sdk.redirectURI, "client_id": phone.id, "client_secret": phone.secret,
                    ])
                #expect(token.json["user_id"] == made.data["userId"], "\(token)")
            }
        }
    }

    @Test("A sign-up that is refused leaves no request waiting", arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.spidBackend(["redirect_uris": ["loom://spid/login"]])
            let token = try await world.clientToken(phone)
            let address = Self.sdks[0].address(phone.id)
            for (email, password, status) in [
                ("nonsense", Self.password, 400), (World.email, Self.password, 302), (Self.email, "short", 409),
            ] {
                let answer = try await world.api(
                    "signup", token, ["email": email, "password": password, "redirectUri": address])
                #expect(answer.status == status, "\(answer)")
            }
            #expect(try await world.count("interactions") == 0)
            let made = try await world.api(
                "signup", token, ["email": Self.email, "password": Self.password, "redirectUri": address])
            #expect(made.status == 201)
            #expect(try await world.count("interactions") == 1)
        }
    }

    @Test("A sign-up's way back that is not the client's own, or not at this server, is refused")
    func foreign() async throws {
        try await World.with(.sqlite) { world in
            let phone = try await world.spidBackend(["redirect_uris": ["loom://spid/login"]])
            let other = try await world.spidBackend(["redirect_uris": ["other://login"]])
            let token = try await world.clientToken(phone)
            let good = "client_id=\(phone.id)&redirect_uri=loom%3A%2F%2Fspid%2Flogin&response_type=code"
            let evil = "redirect_uri=https%3A%2F%2Fevil.example"
            let addresses = [
                "http://evil.example/flow/login?\(good)", "http://spindle.test.evil.example/flow/login?\(good)",
                "http://spindle.test@evil.example/flow/login?\(good)", "https://spindle.test/flow/login?\(good)",
                "//spindle.test/flow/login?\(good)", "/flow/login?\(good)", "http://spindle.test/logout?\(good)",
                "http://spindle.test/flow/login/../../logout?\(good)", "http://spindle.test/flow/loginx?\(good)",
                "http://spindle.test/flow/login", "http://spindle.test/flow/login?",
                "http://spindle.test/flow/login?client_id=\(other.id)&redirect_uri=other%3A%2F%2Flogin",
                "http://spindle.test/flow/login?client_id=\(other.id)&redirect_uri=loom%3A%2F%2Fspid%2Flogin",
                "http://spindle.test/flow/login?client_id=\(phone.id)",
                "http://spindle.test/flow/login?client_id=\(phone.id)&\(evil)",
                "http://spindle.test/flow/login?client_id=\(phone.id)&redirect_uri=loom%3A%2F%2Fspid%2Flogin%3Fa%3Db",
                "http://spindle.test/flow/login?\(evil)&\(good)", "http://spindle.test/flow/login?\(good)&\(evil)",
                "http://spindle.test/flow/login?\(good)&client_id=\(other.id)",
                "http://spindle.test/flow/login?\(good)&state=%FF",
            ]
            for address in addresses {
                let answer = try await world.api("signup", token, ["email": Self.email, "redirectUri": address])
                #expect(answer.status == 400, "\(address.prefix(200)): \(answer)")
                #expect(answer.spidError?.string?.contains("redirectUri") == true)
            }
            #expect(world.server.mail.letters.isEmpty)
            let own = "http://spindle.test/oauth/authorize?\(good)"
            #expect(try await world.api("signup", token, ["email": Self.email, "redirectUri": own]).status == 201)
        }
    }
}
