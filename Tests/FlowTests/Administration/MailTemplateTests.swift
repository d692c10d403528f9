import JSON
import Mail
import TestSupport
import Testing

@Suite("A merchant writes the mails that its clients cause")
struct MailTemplateTests {
    private static let reset: JSON = [
        "subject": "{{sender}}: a new password",
        "text":
            "Hello!\n\nYou use {{app}} & <b>wish</b> for a new password, within {{hours}} hours.\n{{link}}\n\nYours",
    ]
    private static let code: JSON = ["subject": "A code", "text": "{{code}} is for {{minutes}} minutes."]

    @Test(
        "A merchant's mail template replaces the server's words, not its link and warning; null removes it",
        arguments: Backend.available)
    func words(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let token = try await world.clientToken(loom)
            func forgotten() async throws -> MailMessage {
                let answer = try await world.api("user/\(world.user)/trigger/newpassword", token)
                #expect(answer.status == 201, "\(answer)")
                return try await world.server.mail.letter(to: World.email)
            }
            let ours = try await forgotten()
            let templates: JSON = [
                "resetPassword": ["en": Self.reset], "signInCode": ["no": Self.code, "en": Self.code],
            ]
            let changed = try await change(world, templates)
            #expect(changed.status == 200 && changed.json["mail_templates"] == templates, "\(changed)")
            let shown = try await world.server.get("/admin/v1/merchants/\(world.merchant)", bearer: world.admin)
            #expect(shown.json["mail_templates"] == templates)

            let letter = try await forgotten()
            #expect(letter.subject == "Loom: a new password")
            let link = try #require(letter.link(containing: "/password/reset/"))
            let text = """
                Hello!

                You use Loom in SPiD's ways & <b>wish</b> for a new password, within 24 hours.
                \(link)

                Yours

                """
            #expect(letter.text.hasPrefix(text), "\(letter.text)")
            #expect(letter.html.contains("<a href=\"\(link)\">\(link)</a>"))
            #expect(letter.html.contains("&amp; &lt;b&gt;wish&lt;/b&gt; for") && !letter.html.contains("<b>"))
            #expect(!letter.html.contains("class=\"button\""))
            // The merchant cannot leave out the warning and the sender.
            let end = try #require(ours.text.firstRange(of: "If you did not ask for this"))
            #expect(letter.text.hasSuffix(String(ours.text[end.lowerBound...])))
            // The link works.
            var visitor = BrowserUser(world)
            #expect(try await visitor.browser.open(link.replacing("http://spindle.test", with: "")).status == 200)

            #expect(try await change(world, .null).status == 200)
            let again = try await forgotten()
            #expect(again.subject == ours.subject && again.html.contains("class=\"button\""))
        }
    }

    @Test(
        "A mail template is used only for the merchant's own clients, and in the languages that it gives",
        arguments: Backend.available)
    func scope(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let changed = try await change(world, ["signInCode": ["en": Self.code]])
            #expect(changed.status == 200)
            func subject(_ path: String) async throws -> String {
                var visitor = BrowserUser(world)
                let page = try await visitor.browser.open(path)
                _ = try await visitor.press(page, action: "/login/code", ["email": World.email])
                let letter = try await world.server.mail.letter(to: World.email)
                #expect(letter.code != nil)
                return letter.subject
            }
            #expect(try await subject(world.authorizeAddress()) == "A code")
            #expect(try await subject(world.authorizeAddress(["ui_locales": "sv"])) == "Din kod för Loom")
            #expect(try await subject(world.authorizeAddress(for: world.rivalBackend)) != "A code")
            #expect(try await subject("/login") == "Your code for spindle.test")
        }
    }

    @Test(
        "A mail template without its code or link, or with another link or an unsafe character, is refused",
        arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let good = "Within:{{hours}} hours, f. ex. at 10.30 on 24.12.2026:\n{{link}}"
            #expect(try await change(world, reset("A", .string(good))).status == 200)
            for subject: JSON in [
                "", " ", .null, 7, "A\r\nBcc: x@evil.example", "A\nB", "A\u{2028}B", "A\u{202E}B", "{{link}}",
                "{{hours}}", "{{code}}", "{{ sender }}", "{{{sender}}}", "{{#sender}}A{{/sender}}", "{{sender", "}",
                "See evil.example", "//evil", .string(String(repeating: "a", count: 201)),
            ] {
                expectProblem(
                    try await change(world, reset(subject, .string(good))), 400,
                    member: "mail_templates.resetPassword.en.subject")
            }
            for text: JSON in [
                "", .null, ["{{link}}"], "No link", "{{link}} and more", "Here: {{link}}", "{{link}}.", " {{link}}",
                "{{resetLink}}", "{{code}}\n{{link}}", "{{user}}\n{{link}}", "{{&link}}", "{{{link}}}", "{{>link}}",
                "{{#link}}\n{{link}}\n{{/link}}", "{{link}}\n{", "{{link}}\r\nYours", "{{link}}\n\u{0}",
                "{{link}}\n\u{200B}", "{{link}}\n\u{202E}", "{{link}}\nhttps://evil.example/",
                "{{link}}\nhttp://2130706433",
                "{{link}}\nwww.evil.example", "{{link}}\nevil.example", "{{link}}\nkari@evil.example",
                "{{link}}\nevil\u{3002}example", "{{link}}\n{{app}}.com", "{{link}}\nevil.{{app}}",
                "{{link}}\nＨＴＴＰ：／／evil",
                "{{link}}\n192.0.2.7/login", "{{link}}\n192\u{3002}0\u{3002}2\u{3002}7", "{{link}}\nhttp:{{app}}",
                "{{link}}\nevil\u{FE52}example", "{{link}}\ntel:+4712345678", "{{link}}\nmailto:x@evil",
                "{{link}}\nspid-x:foo", "{{link}}\nftp:evil", "{{link}}\n\\\\3232235777\\x",
                "{{link}}\nevil.\u{FE0F}com/login", "{{link}}\nevile\u{301}.com", "{{link}}\n\u{1F4A9}.la/x",
                .string("{{link}}\n" + String(repeating: "a", count: 4000)),
            ] {
                expectProblem(
                    try await change(world, reset("A", text)), 400, member: "mail_templates.resetPassword.en.text")
            }
            let code: JSON = ["signUpCode": ["en": ["subject": "A", "text": "{{code}}"]]]
            expectProblem(try await change(world, code), 400, member: "mail_templates.signUpCode.en.text")
            for (wrong, member): (JSON, String) in [
                ("text", "mail_templates"), ([], "mail_templates"), (["passwordChanged": [:]], "mail_templates"),
                (["resetPassword": "x"], "mail_templates.resetPassword"),
                (["resetPassword": ["fr": Self.reset]], "mail_templates.resetPassword"),
                (["resetPassword": ["en": ["html": "x"]]], "mail_templates.resetPassword.en"),
            ] { expectProblem(try await change(world, wrong), 400, member: member) }
            // All templates at their longest are too much, as they are read for each page.
            let long = JSON.string("{{link}}\n" + String(repeating: "a", count: 3900))
            let all: [JSON.Member] = ["resetPassword", "confirmAddress", "choosePassword"].map { mail in
                let each: [JSON.Member] = ["en", "no", "sv"].map { .init($0, ["subject": "A", "text": long]) }
                return JSON.Member(mail, .object(each))
            }
            expectProblem(try await change(world, .object(all)), 400, member: "mail_templates")
            let kept = try await world.server.get("/admin/v1/merchants/\(world.merchant)", bearer: world.admin)
            #expect(kept.json["mail_templates"] == reset("A", .string(good)))
        }
    }

    @Test(
        "Another merchant's administrator can neither write nor read a merchant's mail templates",
        arguments: Backend.available)
    func borders(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            func administrator(of merchant: String?) async throws -> String {
                let client = try await world.confidential(
                    ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant)
                return try await world.clientToken(client, scope: "admin:merchant")
            }
            func patch(_ token: String) async throws -> Answer {
                try await world.server.send(
                    "PATCH", "/admin/v1/merchants/\(world.merchant)",
                    json: ["mail_templates": ["resetPassword": ["en": Self.reset]]], bearer: token)
            }
            let rival = try await administrator(of: world.rival)
            expectProblem(try await patch(rival), 404)
            #expect(try await patch(try await administrator(of: nil)).status == 200)
            expectProblem(try await world.server.get("/admin/v1/merchants/\(world.merchant)", bearer: rival), 404)
        }
    }

    private func reset(_ subject: JSON, _ text: JSON) -> JSON {
        ["resetPassword": ["en": ["subject": subject, "text": text]]]
    }

    private func change(_ world: World, _ templates: JSON) async throws -> Answer {
        try await world.change("merchants", world.merchant, ["mail_templates": templates])
    }
}
