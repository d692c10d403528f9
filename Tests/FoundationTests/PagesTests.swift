import Pages
import Testing

@Suite("Pages") struct PagesTests {
    /// One of each page, every value in it being `value`.
    private static func all(_ value: String) throws -> [String: String] {
        let templates = try Templates()
        let fields = [HiddenField(name: value, value: value)]
        return [
            "login": templates.login(
                LoginPage(
                    action: value, formToken: value, continueTo: value, email: value, message: value,
                    clientName: value)),
            "signedIn": templates.signedIn(SignedInPage(account: value, formToken: value, logoutAction: value)),
            "logout": templates.logout(
                LogoutPage(account: value, action: value, formToken: value, fields: fields)),
            "signedOut": templates.signedOut(SignedOutPage()),
            "consent": templates.consent(
                ConsentPage(
                    clientName: value, merchantName: value, scopes: [.init(name: value, description: value)],
                    action: value, formToken: value, fields: fields)),
            "switchAccount": templates.switchAccount(
                SwitchAccountPage(current: value, other: value, action: value, formToken: value)),
            "message": templates.message(MessagePage(title: value, text: value, detail: value, hint: value)),
        ]
    }

    /// How often each character that HTML reads as markup occurs, counted as a browser reads: by code point.
    private func markup(_ html: String) -> [Unicode.Scalar: Int] {
        html.unicodeScalars.filter { "<>\"'".unicodeScalars.contains($0) }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    @Test(
        "no value adds markup to any page, in text or in an attribute",
        arguments: [
            "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onfocus='alert(1)", "</title><b>",
            // A mark that combines with the character before it hides that character from a comparison of characters.
            "\"\u{301} autofocus onfocus=alert(1) x=\"\u{301}", "<\u{fe0f}b>\u{20dd}", "'\u{200d}",
            "{{formToken}} {{{action}}} {{#fields}}",
        ])
    func escapes(hostile: String) throws {
        let plain = try Self.all("plain")
        for (name, html) in try Self.all(hostile) {
            #expect(markup(html) == markup(plain[name] ?? ""), "page \(name)")
        }
    }

    @Test("text comes out as it went in, with the five characters written as references")
    func references() throws {
        let html = try Templates().message(MessagePage(title: "a & b", text: "<i> \"q\" 'q' ø"))
        #expect(html.contains("<title>a &amp; b</title>"))
        #expect(html.contains("<p>&lt;i&gt; &quot;q&quot; &#39;q&#39; ø</p>"))
    }

    @Test("every page names its language and fits a narrow screen, without script, inline style or foreign parts")
    func frame() throws {
        for (name, html) in try Self.all("plain") {
            #expect(html.hasPrefix("<!doctype html>\n<html lang=\"en\">"), "page \(name)")
            #expect(html.contains("width=device-width"), "page \(name)")
            #expect(html.contains("href=\"\(Stylesheet.path)\""), "page \(name)")
            for banned in ["<script", "<style", "style=", "http:", "https:", "//", "{{"] {
                #expect(!html.contains(banned), "page \(name) holds \(banned)")
            }
        }
    }

    @Test("the login form ties labels to inputs and tells password keepers what is what")
    func loginForm() throws {
        let html = try Templates().login(
            LoginPage(action: "/login", formToken: "t", continueTo: "/me?a=1&b=2", email: "a@example.com"))
        #expect(html.contains("<form method=\"post\" action=\"/login\">"))
        #expect(html.contains("<input type=\"hidden\" name=\"form_token\" value=\"t\">"))
        #expect(html.contains("<input type=\"hidden\" name=\"continue\" value=\"/me?a=1&amp;b=2\">"))
        for name in ["email", "password"] {
            #expect(html.contains("<label for=\"\(name)\">"))
            #expect(html.contains("<input id=\"\(name)\" name=\"\(name)\" type=\"\(name)\""))
        }
        #expect(html.contains("value=\"a@example.com\" autocomplete=\"username\""))
        #expect(html.contains("autocomplete=\"current-password\""))
        #expect(!html.contains("role=\"alert\""))
        #expect(!html.contains("to continue to"))
    }

    @Test("a refused login says why, to the eye and to a screen reader, and never repeats a password")
    func refusal() throws {
        let html = try Templates().login(
            LoginPage(action: "/login", formToken: "t", continueTo: "/", message: "Wrong.", clientName: "App"))
        #expect(html.contains("<p class=\"refusal\" role=\"alert\" id=\"refusal\">Wrong.</p>"))
        #expect(html.contains("required aria-describedby=\"refusal\">"))
        #expect(html.contains("<bdi>App</bdi>"))
        #expect(!html.contains("type=\"password\" value"))
    }

    @Test("consent lists what is asked for, carries its fields and offers both answers")
    func consent() throws {
        let html = try Templates().consent(
            ConsentPage(
                clientName: "App", merchantName: "Shop",
                scopes: [.init(name: "email", description: "see your address"), .init(name: "x", description: "do x")],
                action: "/oauth/authorize", formToken: "t", fields: [HiddenField(name: "state", value: "s")]))
        #expect(html.contains("<li>see your address <small><code>email</code></small></li>"))
        #expect(html.contains("<li>do x <small><code>x</code></small></li>"))
        #expect(html.contains("<input type=\"hidden\" name=\"state\" value=\"s\">"))
        #expect(html.contains("name=\"decision\" value=\"allow\""))
        #expect(html.contains("name=\"decision\" value=\"deny\""))
    }

    @Test("a message without detail or hint has room for neither")
    func message() throws {
        let html = try Templates().message(MessagePage(title: "Gone", text: "This link was used."))
        #expect(html.contains("<h1>Gone</h1>"))
        #expect(html.occurrences(of: "<p>") == 1)
    }
}

extension String {
    /// How often `part` occurs.
    fileprivate func occurrences(of part: String) -> Int { ranges(of: part).count }
}
