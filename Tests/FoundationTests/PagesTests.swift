import Foundation
import Pages
import Testing

extension PageSamples {
    /// The pages of development mode, which can be rendered in any mode.
    var development: [String: String] {
        var pages = ["developmentSignIn": signIn(nil), "developmentSignIn alone": signIn(nil, alone: true)]
        for fault in DevelopmentSignInPage.Fault.allCases { pages["developmentSignIn \(fault)"] = signIn(fault) }
        pages["developmentHome"] = templates.developmentHome(home, in: frame)
        let field = HiddenField(name: value, value: value)
        pages["developmentAnswer"] = templates.developmentAnswer(answer(field), in: frame)
        pages["developmentAnswer none"] = templates.developmentAnswer(
            DevelopmentAnswerPage(fields: [], again: value), in: frame)
        pages["message registration"] = templates.message(
            MessagePage(
                topic: .unregisteredRedirectURI, registration: FormPostPage(action: value, fields: [field])),
            in: frame)
        let mail = DevelopmentMailsPage.Mail(
            recipient: value, subject: value, time: value, code: value, links: [value], text: value)
        let request = DevelopmentRequestsPage.Request(
            time: value, method: value, path: value, status: value, reason: value, detail: value, fields: [field],
            answer: value)
        for isEmpty in [true, false] {
            pages["developmentMails \(isEmpty)"] = templates.developmentMails(
                DevelopmentMailsPage(mails: isEmpty ? [] : [mail]), in: frame)
            pages["developmentRequests \(isEmpty)"] = templates.developmentRequests(
                DevelopmentRequestsPage(requests: isEmpty ? [] : [request]), in: frame)
        }
        return pages
    }

    private var home: DevelopmentHomePage {
        DevelopmentHomePage(
            issuer: value, discovery: value, keys: value, tryIt: value, formToken: value,
            clients: [
                .init(
                    id: value, kind: value, use: value, secret: value, scope: value, redirectURIs: [value],
                    snippet: value, request: value, action: value)
            ], users: [.init(name: value, email: value, subject: value)])
    }

    private func answer(_ field: HiddenField) -> DevelopmentAnswerPage {
        let decoded = [true, false].map {
            DevelopmentAnswerPage.Token.Decoded(
                header: value, claims: value, expiry: value, verdict: value, isGood: $0)
        }
        return DevelopmentAnswerPage(
            fields: [field], tokens: (decoded + [nil]).map { .init(title: value, value: value, decoded: $0) },
            calls: [.init(title: value, command: value, status: value, answer: value)],
            deeds: .init(action: value, formToken: value, trial: value, calls: [field]), fault: value, again: value)
    }

    private func signIn(_ fault: DevelopmentSignInPage.Fault?, alone: Bool = false) -> String {
        let choices = DevelopmentSignInPage.Choices(lifetime: value, givesRefreshToken: true, errors: [value])
        return templates.developmentSignIn(
            DevelopmentSignInPage(
                action: value, formToken: value, continueTo: value, name: value, clientName: value,
                choices: alone ? nil : choices, fault: fault), in: frame)
    }
}

@Suite("Pages") struct PagesTests {
    private static let templates = Result { try Templates(site: "accounts.example") }
    private static let english = Frame(language: .english)

    /// One of each page and of each of its states, every value in it being `value`.
    private static func all(_ value: String, _ language: Language = .english) throws -> [String: String] {
        try PageSamples(value: value, templates: templates.get(), language: language).all
    }

    // MARK: Escaping

    /// How often each character that HTML reads as markup occurs, counted as a browser reads: by code point.
    private func markup(_ html: String) -> [Unicode.Scalar: Int] {
        html.unicodeScalars.filter { "<>\"'".unicodeScalars.contains($0) }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    @Test(
        "No value adds markup to any page or mail, in text or in an attribute",
        arguments: [
            "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onfocus='alert(1)", "</title><b>",
            // A mark that combines with the character before it hides that character from a comparison of characters.
            "\"\u{301} autofocus onfocus=alert(1) x=\"\u{301}", "<\u{fe0f}b>\u{20dd}", "'\u{200d}",
            "{{formToken}} {{{action}}} {{#fields}}", "[[login.title]]",
        ])
    func escapes(hostile: String) throws {
        let plain = try Self.all("plain")
        for (name, html) in try Self.all(hostile) {
            #expect(markup(html) == markup(plain[name] ?? ""), "page \(name)")
        }
    }

    @Test("Text on a page is unchanged, with the five special characters as references")
    func references() throws {
        let page = SignedInPage(account: "<i> \"q\" 'q' ø & {{formToken}}", formToken: "t", logoutAction: "/logout")
        let html = try Self.templates.get().signedIn(page, in: Frame(language: .english, brand: Brand(name: "a & b")))
        #expect(html.contains("<title>You are signed in · a &amp; b</title>"))
        #expect(html.contains("<bdi>&lt;i&gt; &quot;q&quot; &#39;q&#39; ø &amp; {{formToken}}</bdi>"))
    }

    // MARK: Every page, every language

    @Test("Every page states its language and fits a narrow screen, without inline code or foreign resources")
    func frame() throws {
        for language in Language.allCases {
            for (name, html) in try Self.all("plain", language) where !name.hasPrefix("mail") {
                #expect(html.hasPrefix("<!doctype html>\n<html lang=\"\(language.rawValue)\">"), "page \(name)")
                #expect(html.contains("width=device-width"), "page \(name)")
                #expect(html.contains("<link rel=\"stylesheet\" href=\"\(Stylesheet.path)\">"), "page \(name)")
                #expect(html.hasSuffix("</html>\n"), "page \(name)")
                for banned in ["<script>", "<style", "style=", "http:", "https:", "//", "<fieldset disabled"] {
                    #expect(!html.contains(banned), "page \(name) holds \(banned)")
                }
                #expect(!html.contains(#/<[^>]* on[a-z]+=/#), "page \(name)")
                let scripts = [
                    "formPost": Stylesheet.scriptPath, "webMessage": "/assets/message.js",
                    "developmentHome": "/development/copy.js", "developmentAnswer": "/development/copy.js",
                    "developmentMails": "/development/copy.js",
                ]
                let kind = String(name.prefix { $0 != " " })
                let script = scripts[kind].map { "<script src=\"\($0)\" defer></script>" }
                #expect(html.contains("<script") == (script != nil), "page \(name)")
                #expect(script.map(html.contains) ?? true, "page \(name)")
            }
        }
    }

    @Test(
        "Every page and mail is complete in every language",
        arguments: Language.allCases)
    func languages(_ language: Language) throws {
        let pages = try Self.all("plain", language)
        #expect(pages.count > 60)
        for (name, html) in pages {
            for mark in ["[[", "]]", "{{", "}}", "Optional("] { #expect(!html.contains(mark), "\(name) holds \(mark)") }
            #expect(!html.contains(/\b(message|mail|refusal|account|code|scope)\.[a-z]+[A-Z.]/), "\(name) shows a key")
        }
    }

    @Test("Every page has landmarks, one main heading, labelled fields, and unique ids for every reference")
    func outline() throws {
        for (name, html) in try Self.all("plain") where !name.hasPrefix("mail") {
            for tag in ["<header>", "<main>", "<footer>", "<h1>"] {
                #expect(html.occurrences(of: tag) == 1, "\(name): \(tag)")
            }
            #expect(!html.contains("<h3"), "page \(name)")
            let ids = html.matches(of: #/ id="([^"]+)"/#).map { String($0.output.1) }
            #expect(Set(ids).count == ids.count, "page \(name): \(ids)")
            let meant = html.matches(of: #/ (?:for|aria-describedby|aria-labelledby)="([^"]+)"/#)
                .flatMap { $0.output.1.split(separator: " ").map(String.init) }
            for id in meant { #expect(ids.contains(id), "page \(name) means \(id)") }
            let labelled = Set(html.matches(of: /<label for="([^"]+)"/).map { String($0.output.1) })
            for field in html.matches(of: /<(?:input|select) id="([^"]+)"/) {
                #expect(labelled.contains(String(field.output.1)), "page \(name): \(field.output.1)")
            }
            #expect(html.occurrences(of: "<form method=\"post\"") == html.occurrences(of: "<form "), "page \(name)")
        }
    }

    @Test("The translations have the same keys; none is empty or breaks an attribute or a plain mail")
    func translations() throws {
        var keys: Set<Set<String>> = []
        for language in Language.allCases {
            let texts = try Translation.of(language)
            keys.insert(Set(texts.keys))
            for (key, text) in texts {
                #expect(!text.isEmpty && text == text.trimmingCharacters(in: .whitespacesAndNewlines), "\(key)")
                let words = text.replacing(/<[^>]*>/, with: "")
                #expect(!words.contains("\"") && !words.contains("<"), "\(language) \(key): \(words)")
                if key.hasPrefix("mail.") || key.hasPrefix("text.") {
                    #expect(!text.contains(/[<>&]/), "\(language) \(key)")
                }
                let names = try Translation.placeholders(of: key, in: .english)
                #expect(try Translation.placeholders(of: key, in: language) == names, "\(language) \(key)")
            }
        }
        #expect(keys.count == 1)
    }

    @Test("Every translated text is used: a template names it, or a value selects it from a family")
    func used() throws {
        let templates = try Translation.templates()
        let chosen = [
            "message.", "mail.", "refusal.", "scope.", "language.", "code.", "account.", "deleteAccount.when.",
            "developmentSignIn.fault.", "phones.notice.", "text.",
        ]
        for key in try Translation.of(.english).keys where !templates.contains("[[\(key)]]") {
            #expect(chosen.contains(where: key.hasPrefix), "\(key) is on no page")
        }
    }

    @Test(
        "Every topic of a message page is used in the source code of the endpoints",
        arguments: MessagePage.Topic.allCases)
    func shown(_ topic: MessagePage.Topic) throws {
        #expect(try Self.shown.get().contains(topic.rawValue))
    }

    /// The topics of messages in the sources: where a message is made, and where one is chosen.
    private static let shown = Result {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
        let files = try ["BrowserPages", "HTTPSupport"].map { module in
            let folder = sources.appending(path: module)
            return try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        }
        return try files.joined().compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .reduce(into: Set<String>()) { shown, file in
                let text = try String(contentsOf: file, encoding: .utf8)
                shown.formUnion(text.matches(of: /(?:message|page|say)\(\s*\.(\w+)/).map { String($0.output.1) })
                guard text.contains("MessagePage.Topic") else { return }
                shown.formUnion(text.matches(of: /(?::|=) \.(\w+)/).map { String($0.output.1) })
            }
    }

    // MARK: Single pages

    @Test("The login form labels its inputs and names them for password managers")
    func loginForm() throws {
        let page = LoginPage(action: "/login", formToken: "t", continueTo: "/me?a=1&b=2", email: "a@example.com")
        let html = try Self.templates.get().login(page, in: Self.english)
        #expect(html.contains("<title>Sign in</title>"))
        #expect(!html.contains("<header>"), "there is no brand to show")
        #expect(html.contains("<form method=\"post\" action=\"/login\">"))
        #expect(html.contains("<input type=\"hidden\" name=\"form_token\" value=\"t\">"))
        #expect(html.contains("<input type=\"hidden\" name=\"continue\" value=\"/me?a=1&amp;b=2\">"))
        for name in ["email", "password"] {
            #expect(html.contains("<label for=\"\(name)\">"))
            #expect(html.contains("<input id=\"\(name)\" name=\"\(name)\" type=\"\(name)\""))
        }
        #expect(html.contains("value=\"a@example.com\" autocomplete=\"username\""))
        #expect(html.contains("autocomplete=\"current-password\""))
        for path in ["/password", "/signup"] { #expect(html.contains("\(path)?continue=%2Fme%3Fa%3D1%26b%3D2\"")) }
        #expect(html.contains("formaction=\"/login/code\" formnovalidate"))
        for absent in ["role=\"alert\"", "to continue to", "readonly", "cancel"] { #expect(!html.contains(absent)) }
    }

    @Test("A refused login tells why, visibly and to a screen reader, and never repeats a password")
    func refusal() throws {
        let page = LoginPage(
            action: "/login", formToken: "t", continueTo: "/", clientName: "App", refusal: .wrongCredentials)
        let html = try Self.templates.get().login(page, in: Self.english)
        let text = "The e-mail address or the password is wrong."
        #expect(html.contains("<p class=\"refusal\" role=\"alert\" id=\"refusal\">\(text)</p>"))
        #expect(html.occurrences(of: " aria-invalid=\"true\" aria-describedby=\"refusal\">") == 2)
        #expect(html.contains("<bdi>App</bdi>"))
        #expect(!html.contains("type=\"password\" value"))
    }

    @Test(
        "The page for confirming a sign-in has a read-only address, a cancel form, and no sign-up link")
    func confirmation() throws {
        let page = LoginPage(
            action: "/login", formToken: "t", continueTo: "/", email: "a@example.com", isConfirmation: true,
            cancel: .init(action: "/cancel", request: "r"), refusal: .tooManyAttempts(seconds: 100))
        let html = try Self.templates.get().login(page, in: Self.english)
        #expect(html.contains("<h1>Confirm that it is you</h1>"))
        #expect(html.contains(" readonly>"))
        #expect(html.contains("Try again in 2 minutes."))
        for absent in ["remember", "/signup", "aria-invalid"] { #expect(!html.contains(absent), "\(absent)") }
        let forms = html.matches(of: /<form method="post" action="([^"]+)">/).map { String($0.output.1) }
        #expect(forms == ["/login", "/cancel"])
        #expect(html.contains("<button type=\"submit\" name=\"decision\" value=\"cancel\""))
    }

    @Test("The consent page has a checkbox for each scope; that of a required scope cannot be unchecked")
    func consent() throws {
        let page = ConsentPage(
            clientName: "App", maker: .merchant("Shop"),
            scopes: [.init(name: "openid", isRequired: true), .init(name: "x:y")],
            action: "/oauth/consent", formToken: "t", request: "a=b", account: "kari@example.com",
            switchTo: "/oauth/authorize?a=b&prompt=select_account")
        let html = try Self.templates.get().consent(page, in: Self.english)
        #expect(html.contains("<input type=\"hidden\" name=\"scope\" value=\"openid\">"))
        #expect(
            html.contains("<input type=\"checkbox\" name=\"scope\" value=\"openid\" checked disabled> <span>Know that"))
        #expect(
            html.contains("<input type=\"checkbox\" name=\"scope\" value=\"x:y\" checked> <span>Use “<bdi>x:y</bdi>”"))
        #expect(html.contains("<input type=\"hidden\" name=\"request\" value=\"a=b\">"))
        #expect(html.contains("<bdi>kari<wbr>@example.com</bdi>"), "long addresses break before the @")
        #expect(html.contains("<a href=\"/oauth/authorize?a=b&amp;prompt=select_account\">Not you?</a>"))
        for decision in ["allow", "deny"] { #expect(html.contains("name=\"decision\" value=\"\(decision)\"")) }
        #expect(html.contains("by <bdi>Shop</bdi>") && !html.contains("caution"))
    }

    @Test(
        "An app that registered itself is not attributed to the merchant on the consent page",
        arguments: Language.allCases)
    func stranger(_ language: Language) throws {
        func html(_ maker: ConsentPage.Maker) throws -> String {
            let page = ConsentPage(
                clientName: "App", maker: maker, scopes: [], action: "/", formToken: "t", request: "a=b",
                account: "kari@example.com", switchTo: "/")
            return try Self.templates.get().consent(page, in: Frame(language: language))
        }
        let warning = /<p class="caution">[^<]{40,}<\/p>/
        #expect(try html(.selfRegistered).firstMatch(of: warning) != nil)
        #expect(try !html(.selfRegistered).contains("</strong> <bdi>") && !html(.platform).contains("caution"))
    }

    @Test("The account page marks only the profile field that is too long", arguments: ProfileField.allCases)
    func profileField(_ field: ProfileField) throws {
        let page = AccountPage(
            account: Profile(email: "a@example.com", emailVerified: true, hasPassword: true), formToken: "t",
            sessions: [], apps: [], refusal: (.profile, .tooLong(in: field)))
        let html = try Self.templates.get().account(page, in: Self.english)
        #expect(html.contains("id=\"refusal\">This is too long. Shorten it a little.</p>"))
        let marked = html.matches(of: /<(?:input|select) id="([^"]+)"[^>]* aria-invalid="true"/)
        #expect(marked.map { String($0.output.1) } == [field.rawValue])
    }

    @Test("The account page links to /verify only if the user has an address and it is unverified")
    func unverified() throws {
        func html(_ email: String, _ verified: Bool) throws -> String {
            let profile = Profile(email: email, emailVerified: verified, hasPassword: true)
            return try Self.templates.get().account(
                AccountPage(account: profile, formToken: "t", sessions: [], apps: []), in: Self.english)
        }
        let link = "<a href=\"/verify\">Confirm my address</a>"
        #expect(try html("a@example.com", false).contains(link))
        #expect(try !html("a@example.com", true).contains(link))
        #expect(try html("a@example.com", true).contains("<p>Signed in as <strong><bdi>a<wbr>@example.com</bdi>"))
        for absent in [link, "<bdi></bdi>"] { #expect(try !html("", false).contains(absent)) }
    }

    @Test("The account page marks an error only in the form it is about, and offers to end only other sessions")
    func account() throws {
        let session = { (id: String, isCurrent: Bool) in
            SessionItem(
                id: id, device: nil, address: "", signedInAt: "2026-11-20 08:12", seenAt: "2026-11-21 10:58",
                isCurrent: isCurrent, remembered: false)
        }
        let page = AccountPage(
            account: Profile(email: "a@example.com", emailVerified: false, hasPassword: true, locale: "nb-NO"),
            formToken: "t", sessions: [session("1", true), session("2", false)], apps: [],
            refusal: (.email, .wrongPassword))
        let html = try Self.templates.get().account(page, in: Self.english)
        #expect(html.occurrences(of: "role=\"alert\"") == 1)
        #expect(html.contains(/<input id="email_password"[^>]* aria-invalid="true" aria-describedby="refusal">/))
        #expect(html.occurrences(of: "aria-invalid") == 1)
        #expect(html.contains("<option value=\"nb-NO\" selected>Norsk</option>"))
        #expect(html.occurrences(of: " selected") == 1)
        #expect(html.contains("<input type=\"hidden\" name=\"session\" value=\"2\">"))
        #expect(!html.contains("<input type=\"hidden\" name=\"session\" value=\"1\">"))
        #expect(html.contains("aria-label=\"Sign out there: Unknown device\""))
        #expect(html.contains("<time datetime=\"2026-11-21 10:58Z\">2026-11-21 10:58 UTC</time>"))
    }

    @Test("A message page without detail or link has no empty element for them")
    func message() throws {
        let html = try Self.templates.get().message(MessagePage(topic: .accountDeleted), in: Self.english)
        #expect(html.contains("<h1>Your account is deleted</h1>"))
        for absent in ["<code>", "class=\"button\""] { #expect(!html.contains(absent)) }
        let page = MessagePage(
            topic: .checkMail, values: ["email": "a@b.example", "again": "/password", "continueTo": "/x"], detail: "17")
        let whole = try Self.templates.get().message(page, in: Self.english)
        for part in ["<bdi>a<wbr>@b.example</bdi>", "<code>17</code>", "href=\"/x\""] { #expect(whole.contains(part)) }
    }

    @Test("A page of a brand shows its name and logo and links its stylesheet")
    func brand() throws {
        let brand = Brand(name: "Shop", logoURI: "https://shop.example/l.svg", stylesheet: "/assets/brand/1.css")
        let html = try Self.templates.get().signedOut(SignedOutPage(), in: Frame(language: .german, brand: brand))
        #expect(html.contains("<title>Sie sind abgemeldet · Shop</title>"))
        #expect(html.contains("<img src=\"https://shop.example/l.svg\" alt=\"\" referrerpolicy=\"no-referrer\">"))
        #expect(html.contains("css\">\n<link rel=\"stylesheet\" href=\"/assets/brand/1.css\">"))
        #expect(html.contains("<p>accounts.example</p>"))
    }

    @Test(
        "In development mode every page begins with the development banner; in other modes no page has it",
        arguments: Language.allCases)
    func banner(_ language: Language) throws {
        let development = try Templates(site: "users.example", isDevelopment: true)
        let plain = try Templates(site: "users.example")
        #expect(development.isDevelopment && !plain.isDevelopment)
        let pages = PageSamples(value: "plain", templates: development, language: language).all
        let others = PageSamples(value: "plain", templates: plain, language: language).all
        let text = try #require(try Translation.of(language)["development.text"])
        for (name, html) in pages where !name.hasPrefix("mail") {
            let body = try #require(html.split(separator: "<body>\n").last)
            #expect(body.hasPrefix("<aside class=\"development\" aria-label=\""), "\(name)")
            #expect(html.contains(text), "\(name)")
            #expect(try #require(others[name]).contains(text) == false, "\(name)")
        }
    }

    @Test("An operator's own layout shows the development banner too, and no file replaces it")
    func overridden() throws {
        func templates(_ files: [String: String]) throws -> Templates {
            let folder = try TemporaryFolder()
            for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: folder.path(name))) }
            return try withExtendedLifetime(folder) {
                try Templates(overriding: folder.path, isDevelopment: true)
            }
        }
        let frame = "<title>[[title]]</title><BODY id=\"own\">[[page]]</BODY>"
        let html = try templates(["frame.html": frame]).signedOut(SignedOutPage(), in: Frame(language: .english))
        #expect(html.contains("<BODY id=\"own\">\n<aside class=\"development\""))
        #expect(throws: TemplateFault.self) { try templates(["frame.html": "<title>[[title]]</title>[[page]]"]) }
        #expect(throws: TemplateFault.self) { try templates(["development_banner.html": "<p></p>"]) }
    }
}

extension String {
    /// How often `part` occurs.
    func occurrences(of part: String) -> Int { ranges(of: part).count }
}
