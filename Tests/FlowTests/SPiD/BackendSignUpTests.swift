import JSON
import Mail
import TestSupport
import Testing
import Values

@Suite("Sign-ups through SPiD's API")
struct BackendSignUpTests {
    private static let email = "grace@example.com"
    private static let password = "a quite unlikely loom"

    private func path(_ letter: MailMessage, _ part: String) throws -> String {
        try #require(letter.link(containing: part)).replacing("http://spindle.test", with: "")
    }

    @Test(
        "A user whom a backend signs up exists at once, and a mailed link verifies the address",
        arguments: Backend.available)
    func signUp(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            let answer = try await world.api(
                "signup", token,
                [
                    "email": " Grace@Example.com", "password": Self.password, "name": "Grace Hopper",
                    "displayName": "Amazing Grace", "gender": "female", "birthday": "1906-12-09", "locale": "nb_NO",
                    "phoneNumber": "+1 555 0100", "preferredUsername": "grace", "addresses": "[]", "deviceData": "x",
                ])
            #expect(answer.status == 201 && answer.json["code"] == 201 && answer.json["object"] == "User")
            let user = answer.data
            #expect(user["email"] == "grace@example.com" && user["emailVerified"] == false && user["status"] == 0)
            #expect(user["accounts"]?[loom.id]?["id"] == .string(loom.id))
            #expect(user["merchants"] == [1])
            #expect(user["displayName"] == "Amazing Grace" && user["name"]?["formatted"] == "Grace Hopper")
            #expect(user["birthday"] == "1906-12-09" && user["gender"] == "female" && user["locale"] == "nb_NO")
            #expect(user["phoneNumber"] == "+1 555 0100" && user["lastLoggedIn"] == false)

            // The app can sign the user in.
            let own = try await world.signIn(with: loom, as: Self.email, password: Self.password)
            let me = try await world.api("me", try own.require("access_token")).data
            #expect(me["userId"] == user["userId"] && me["emailVerified"] == false)

            let letter = try await world.server.mail.letter(to: Self.email)
            #expect(letter.subject == "Bekreft adressen din hos Loom")
            var visitor = BrowserUser(world)
            let page = try await visitor.browser.open(try path(letter, "/signup/address/"))
            #expect(page.status == 200 && page.body.contains("Loom in SPiD&#39;s ways"))
            let looked = try await world.api("me", try own.require("access_token")).data
            #expect(looked["emailVerified"] == false, "a look changes nothing: mail programs look too")
            let wrong = try await visitor.browser.submit(page, ["password": "what I would choose"])
            #expect(wrong.status == 400 && wrong.body.contains("role=\"alert\""))
            let done = try await visitor.browser.submit(page, ["password": Self.password])
            #expect(done.status == 303)
            #expect(
                try await visitor.browser.open(try #require(done.header("location"))).header("location") == "/account")
            #expect(try await visitor.isSignedIn())
            let after = try await world.api("me", try own.require("access_token")).data
            #expect(after["emailVerified"] == true && after["status"] == 1, "the tokens of the app live on")
        }
    }

    @Test(
        "The mailed link of a backend's sign-up leads back to the app, if the address is still registered",
        arguments: Backend.available)
    func onward(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            let made = try await world.api(
                "signup", token,
                ["email": Self.email, "password": Self.password, "redirectUri": "https://backend.example/callback"])
            #expect(made.status == 201)
            var visitor = BrowserUser(world)
            let letter = try await world.server.mail.letter(to: Self.email)
            let page = try await visitor.browser.open(try path(letter, "/signup/address/"))
            let done = try await visitor.browser.submit(page, ["password": Self.password])
            let onward = try #require(done.header("location"))
            let back = try await visitor.browser.open(onward)
            #expect(back.status == 302 && back.header("location") == "https://backend.example/callback")
            try await world.change("clients", loom.id, ["redirect_uris": ["https://backend.example/new"]])
            let stray = try await visitor.browser.open(onward)
            #expect(stray.status == 400 && stray.isPage && stray.header("location") == nil)
            let foreign = try await visitor.browser.open(
                "/signup/return?client_id=unknown&redirect_uri=https%3A%2F%2Fevil.example")
            #expect(foreign.status == 400 && foreign.isPage)
        }
    }

    @Test(
        "A backend's sign-up without a password mails a link to set one, which leads back to the app",
        arguments: Backend.available)
    func passwordless(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let made = try await world.api(
                "signup", try await world.clientToken(loom),
                ["email": Self.email, "redirectUri": "https://backend.example/callback"])
            #expect(made.status == 201)
            var visitor = BrowserUser(world)
            let letter = try await world.server.mail.letter(to: Self.email)
            #expect(letter.subject == "Your new account at Loom")
            let page = try await visitor.browser.open(try path(letter, "/password/reset/"))
            let done = try await visitor.browser.submit(page, ["password": Self.password])
            #expect(done.status == 303)
            let back = try await visitor.browser.open(try #require(done.header("location")))
            #expect(back.header("location") == "https://backend.example/callback")
            let own = try await world.signIn(with: loom, as: Self.email, password: Self.password)
            #expect(try await world.api("me", try own.require("access_token")).data["status"] == 1)
        }
    }

    @Test(
        "The mailed link of a backend's sign-up lives a week, and ends when the user gets a new password",
        arguments: Backend.available)
    func expiry(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            var paths: [String] = []
            for email in [Self.email, "mary@example.com"] {
                _ = try await world.api("signup", token, ["email": email, "password": Self.password])
                paths.append(try path(try await world.server.mail.letter(to: email), "/signup/address/"))
            }
            let mary = try await world.api("users?email=mary%40example.com", token).data.array?.first?["userId"]
            var visitor = BrowserUser(world)
            try await world.change("users", try #require(mary?.string), ["password": "another quite unlikely"])
            #expect(try await visitor.browser.open(paths[1]).status == 410)
            world.server.clock.advance(by: .days(7) - .seconds(1))
            let page = try await visitor.browser.open(paths[0])
            #expect(page.status == 200)
            world.server.clock.advance(by: .seconds(1))
            #expect(try await visitor.browser.open(paths[0]).status == 410)
            #expect(try await visitor.browser.submit(page, ["password": Self.password]).status == 410)
            #expect(try await visitor.browser.open("/signup/address/unknown").status == 404)
            #expect(try await !visitor.isSignedIn())
        }
    }

    @Test(
        "A backend's sign-up for an address that has a user is refused, and sends no mail",
        arguments: Backend.available)
    func taken(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let answer = try await world.api("signup", token, ["email": World.email, "password": Self.password])
            #expect(answer.status == 302 && answer.json["code"] == 302 && answer.json["error"]?["code"] == 302)
            #expect(answer.spidError?["exists"]?.string != nil && answer.header("location") == nil)
            #expect(answer.data == .null)
            #expect(try await world.signIn().status == 200)
            #expect(world.server.mail.letters.isEmpty)
            #expect(try await world.api("signup", token, ["email": Self.email]).status == 201)
            #expect(try await world.api("signup", token, ["email": "GRACE@example.com"]).status == 302)
        }
    }

    @Test("Of concurrent sign-ups by a backend for one address, one succeeds", arguments: Backend.available)
    func race(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await world.api("signup", token, ["email": Self.email]).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [201, 302, 302, 302])
        }
    }

    @Test("The refusal of a backend's sign-up names the invalid member, and nothing is created")
    func refused() async throws {
        try await World.with(.sqlite) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            let good = ("email", Self.email)
            let bad: [([(String, String)], Int, String)] = [
                ([], 400, "email"), ([("email", "")], 400, "email"), ([("email", "nonsense")], 400, "email"),
                ([good, ("password", "short")], 409, "password"), ([good, ("password", "password1")], 409, "password"),
                ([good, ("password", Self.email)], 409, "password"),
                ([good, ("password", "hopper-hopper"), ("name", "Hopper-Hopper")], 409, "password"),
                ([good, ("redirectUri", "https://evil.example")], 400, "redirectUri"),
                ([good, ("gender", "other")], 400, "gender"), ([good, ("birthday", "1906-02-31")], 400, "birthday"),
                ([good, ("birthday", "0")], 400, "birthday"),
                ([good, ("name", String(repeating: "x", count: 501))], 400, "name"),
                ([good, ("displayName", "a\nb")], 400, "displayName"),
            ]
            for (form, status, word) in bad {
                let answer = try await world.server.post("/api/2/signup", form: form, bearer: token)
                #expect(answer.status == status, "\(form): \(answer)")
                let told = answer.spidError?.string ?? answer.spidError?.members?.first?.name ?? ""
                #expect(told.contains(word), "\(form): \(answer)")
            }
            let short = try await world.api("signup", token, ["email": Self.email, "password": "short"])
            #expect(
                short.spidError == ["password": "The password needs to contain at least 8 characters."])
            #expect(try await world.api("users?query=grace", token).data == [])
            #expect(world.server.mail.letters.isEmpty)

            let phone = try await world.signIn(with: loom).require("access_token")
            #expect(try await world.api("signup", phone, ["email": Self.email]).status == 401)
            let strict = try await world.clientToken(world.backend)
            #expect(try await world.api("signup", strict, ["email": Self.email]).status == 403)
            let stranger = try await world.clientToken(try await world.spidBackend(["first_party": false]))
            #expect(try await world.api("signup", stranger, ["email": Self.email]).status == 403)
        }
    }

    @Test("A backend's sign-up takes a name in parts, as SPiD's backends write it in JSON")
    func nameInParts() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let names: [(String, JSON)] = [
                (
                    #"{"givenName":"Grace","familyName":"Hopper"}"#,
                    ["givenName": "Grace", "familyName": "Hopper", "formatted": "Grace Hopper"]
                ),
                (
                    #"{"formatted":"Admiral Hopper","givenName":"Grace","familyName":""}"#,
                    ["givenName": "Grace", "familyName": "", "formatted": "Admiral Hopper"]
                ),
                ("{}", ["givenName": "", "familyName": "", "formatted": ""]),
                ("{Grace}", ["givenName": "", "familyName": "", "formatted": "{Grace}"]),
                (#"["Grace"]"#, ["givenName": "", "familyName": "", "formatted": #"["Grace"]"#]),
            ]
            for (number, (text, expected)) in names.enumerated() {
                let made = try await world.api("signup", token, ["email": "grace\(number)@example.com", "name": text])
                #expect(made.status == 201 && made.data["name"] == expected, "\(text): \(made)")
            }
            let long = String(repeating: "x", count: 501)
            for text in [#"{"givenName":7}"#, #"{"familyName":["Hopper"]}"#, #"{"givenName":"\#(long)"}"#] {
                let answer = try await world.api("signup", token, ["email": Self.email, "name": text])
                #expect(answer.status == 400 && "\(answer.spidError ?? .null)".contains("name"), "\(text): \(answer)")
            }
            let weak = try await world.api(
                "signup", token,
                ["email": Self.email, "name": #"{"familyName":"Hopper-Hopper"}"#, "password": "hopper-hopper"])
            #expect(weak.status == 409, "a password that is the family name")
        }
    }

    @Test("A backend that signs up too many users is throttled, and other backends are not")
    func throttled() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            for _ in 0..<600 {
                #expect(try await world.api("signup", token, ["email": World.email]).status == 302)
            }
            #expect(try await world.api("signup", token, ["email": Self.email]).status == 429)
            let other = try await world.clientToken(try await world.spidBackend())
            #expect(try await world.api("signup", other, ["email": Self.email]).status == 201)
            world.server.clock.advance(by: .seconds(6))
            #expect(try await world.api("signup", token, ["email": "mary@example.com"]).status == 201)
        }
    }

    @Test(
        "A backend's sign-up with acceptTerms agrees to the terms of the platform and of the client",
        arguments: Backend.available)
    func terms(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": "https://spindle.example/terms"]) { world in
            let loom = try await world.spidBackend(["tos_uri": "https://loom.example/terms"])
            let token = try await world.clientToken(loom)
            for (email, accepts) in [(Self.email, "1"), ("mary@example.com", "0")] {
                let made = try await world.api("signup", token, ["email": email, "acceptTerms": accepts])
                let id = try #require(made.data["userId"]?.string)
                let agreements = try await world.api("user/\(id)/agreements", token).data["agreements"]
                #expect(agreements == ["platform": .bool(accepts == "1"), "client": .bool(accepts == "1")])
            }
        }
    }

    // MARK: Members

    private static let home =
        #"{"home":{"formatted":"Akersgata 55\n0180 Oslo","streetAddress":"Akersgata 55","postalCode":"0180","#
        + #""country":"NO","type":"home"}}"#

    @Test(
        "A backend's sign-up keeps given_name and family_name, a phone number, an address and links",
        arguments: Backend.available)
    func kept(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let answer = try await world.api(
                "signup", token,
                [
                    "email": "grace@example.com", "name": #"{"given_name":"Grace","family_name":"Hopper"}"#,
                    "phone_number": "+4740000002", "addresses": Self.home, "photo": "https://grace.example/me.png",
                    "url": "https://grace.example/", "displayName": "undisclosed", "gender": "undisclosed",
                ])
            #expect(answer.status == 201, "\(answer)")
            let user = try await world.api("user/\(answer.data["userId"]?.string ?? "")", token).data
            for shown in [answer.data, user] {
                #expect(shown["name"] == ["givenName": "Grace", "familyName": "Hopper", "formatted": "Grace Hopper"])
                #expect(shown["phoneNumber"] == "+4740000002" && shown["url"] == "https://grace.example/")
                #expect(shown["photo"] == "https://grace.example/me.png")
                #expect(shown["displayName"] == "undisclosed" && shown["gender"] == "undisclosed")
                #expect(
                    shown["addresses"] == [
                        "home": [
                            "formatted": "Akersgata 55\n0180 Oslo", "streetAddress": "Akersgata 55",
                            "postalCode": "0180", "country": "NO", "type": "home",
                        ]
                    ])
            }
        }
    }

    @Test(
        "A backend's sign-up with a member that could not be stored gets 400, and creates no user",
        arguments: Backend.available)
    func unkept(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let bad: [(name: String, value: String)] = [
                ("shoeSize", "38"), ("utcOffset", "+02:00"), ("name[givenName]", "Grace"), ("redirect_uri", "x"),
                ("name", #"{"givenName":"Grace","middleName":"B"}"#),
                ("name", #"{"givenName":"Grace","given_name":"Ada"}"#), ("name", #"{"givenName":["Grace"]}"#),
                ("addresses", "Akersgata 55"), ("addresses", #"["Akersgata 55"]"#),
                ("addresses", #"{"home":{"country":"NO"},"work":{"country":"SE"}}"#), ("addresses", #"{"home":"NO"}"#),
                ("addresses", #"{"home":{"country":["NO"]}}"#), ("addresses", #"{"home":{"planet":"Mars"}}"#),
                ("photo", "javascript:alert(1)"), ("url", "data:text/html,x"),
                ("phone_number", String(repeating: "1", count: 501)),
            ]
            for (name, value) in bad {
                let form = [("email", "grace@example.com"), (name, value)]
                let answer = try await world.server.post("/api/2/signup", form: form, bearer: token)
                #expect(answer.status == 400, "\(name)=\(value): \(answer)")
                #expect(answer.spidError?.string?.contains(name.prefix(5)) == true, "\(name)=\(value): \(answer)")
            }
            let both = [("email", "grace@example.com"), ("phone_number", "+47 1"), ("phoneNumber", "+47 2")]
            #expect(try await world.server.post("/api/2/signup", form: both, bearer: token).status == 400)
            #expect(try await world.api("users?query=grace", token).data == [])
        }
    }

    @Test("A backend's sign-up is not refused for empty members, empty maps or one phone number sent twice")
    func empty() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let forms: [[(String, String)]] = [
                [("shoeSize", ""), ("addresses", "[]")], [("addresses", "{}"), ("name", "{}")],
                [("addresses", #"{"home":{"type":"home","region":""}}"#), ("deviceData", "{}")],
                [("phone_number", "+47 1"), ("phoneNumber", "+47 1")], [("addresses", #"{"work":{"region":"Oslo"}}"#)],
                [("oauth_token", token)], [("access_token", token)],
            ]
            for (number, form) in forms.enumerated() {
                let bearer = form.contains { $0.1 == token } ? nil : token
                let answer = try await world.server.post(
                    "/api/2/signup", form: [("email", "grace\(number)@example.com")] + form, bearer: bearer)
                #expect(answer.status == 201, "\(form): \(answer)")
            }
        }
    }

    // MARK: Phones, whose way back is an authorization URL

    /// A phone's SDK, and what it sends as `redirectUri`.
    struct SDK: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The registered redirect URI.
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

    @Test(
        "A sign-up's mailed link leads to the app with a code if its redirectUri is a sign-in path of this server",
        arguments: sdks)
    func phones(_ sdk: SDK) async throws {
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

    @Test("A backend's sign-up that is refused stores no authorization request", arguments: Backend.available)
    func refusedLeavesNothing(backend: Backend) async throws {
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

    @Test("A sign-up's redirectUri to a sign-in path must be at this server and name the client's own address")
    func foreignWayBack() async throws {
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
