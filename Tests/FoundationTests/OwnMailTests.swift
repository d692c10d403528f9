import Directory
import Foundation
import Pages
import Testing

@Suite("Mails in a merchant's words")
struct OwnMailTests {
    @Test("Every placeholder that a merchant's mail text may use has a value")
    func names() throws {
        let link = "https://a.example/x?a=1&b=2"
        let templates = try Templates(site: "a.example")
        let letters = Dictionary(uniqueKeysWithValues: PageSamples.letters(link).map { ($0.name, $0.letter) })
        for kind in MailTexts.Kind.allCases {
            let letter = try #require(letters[kind.rawValue], "there is no mail \(kind)")
            #expect(letter.name == kind.rawValue)
            let names = MailTexts.names + kind.codes + kind.links + kind.times
            let text = names.map { "{{\($0)}}" }.joined(separator: "\n")
            let own = OwnMail(subject: "{{app}} {{sender}}", text: text, application: "News\r\nBcc: x")
            for language in Language.allCases {
                let mail = templates.mails(
                    letter, in: Frame(language: language, brand: Brand(name: "Loom")), saying: own)
                #expect(mail.subject == "News  Bcc  x Loom")
                let lines = mail.text.split(separator: "\n", omittingEmptySubsequences: false).prefix(names.count)
                #expect(lines.count == names.count && lines.allSatisfy { !$0.isEmpty && !$0.contains("{") }, "\(kind)")
                #expect(lines.count { $0 == link } == kind.codes.count + kind.links.count)
                let anchor = "<a href=\"https://a.example/x?a=1&amp;b=2\">"
                #expect(mail.html.contains(anchor) == !kind.links.isEmpty)
            }
        }
    }

    @Test("A merchant or app name that is an address does not become a link in a mail or a text message")
    func addresses() throws {
        let templates = try Templates(site: "a.example")
        let frame = Frame(language: .english, brand: Brand(name: "https://evil.example/x"))
        let own = OwnMail(subject: "{{app}}", text: "evil{{app}}\n{{link}}", application: ".example\u{FF0F}x")
        let letters = PageSamples.letters("https://a.example/x").filter { $0.name == "resetPassword" }
        let letter = try #require(letters.first?.letter)
        let mails = [templates.mails(letter, in: frame), templates.mails(letter, in: frame, saying: own)]
        for text in mails.flatMap({ [$0.subject, $0.text, $0.html] }) + [
            templates.texts(code: "123456", minutes: 10, in: frame)
        ] {
            #expect(
                !text.contains("evil.example") && !text.contains("https://evil") && !text.contains(".example\u{FF0F}"))
        }
        #expect(mails[0].subject.contains("https   evil.\u{2060}example x"), "\(mails[0].subject)")
        #expect(mails[1].text.contains("evil.\u{2060}example x"))
    }

    @Test(
        "A name with a sign that programs read as a full stop or a slash does not become a link in a mail",
        arguments: [
            ("evil\u{FE12}com", "evil\u{FE12}\u{2060}com"), ("evil\u{FF61}com", "evil\u{FF61}\u{2060}com"),
            ("evil\u{FE12}com\u{FF0F}x", "evil\u{FE12}\u{2060}com x"),
            ("x\u{FE6B}evil\u{FE13}1\u{FF3C}y", "x evil 1 y"),
        ])
    func signs(name: String, shown: String) throws {
        let templates = try Templates(site: "a.example")
        let letter = MailTemplate.resetPassword(link: "https://a.example/x", hours: 24)
        let own = OwnMail(subject: "{{app}}", text: "{{app}}\n{{link}}", application: name)
        let mails = [
            templates.mails(letter, in: Frame(language: .english, brand: Brand(name: name))),
            templates.mails(letter, in: Frame(language: .english), saying: own),
        ]
        for mail in mails {
            #expect(mail.subject.contains(shown) && mail.text.contains(shown), "\(mail.subject)")
            #expect(!mail.subject.contains(name) && !mail.text.contains(name) && !mail.html.contains(name))
        }
    }

    @Test("An identity provider's name does not become a link in the mail about a new sign-in method")
    func issuer() throws {
        let letter = MailTemplate.signInLinked(
            provider: "Pay at https://evil.example/x or", link: "https://a.example/x")
        let mail = try Templates(site: "a.example").mails(letter, in: Frame(language: .english))
        for text in [mail.subject, mail.text, mail.html] {
            #expect(!text.contains("evil.example") && !text.contains("https://evil"), "\(text)")
        }
    }

    @Test("A merchant may have mail texts in each language of the pages")
    func languages() { #expect(Set(MailTexts.languages) == Set(Language.allCases.map(\.rawValue))) }

    @Test("An operator's mail template shows the text of a merchant's mail unchanged")
    func folder() throws {
        let folder = try TemporaryFolder()
        try "<p>{{text}}</p>{{#links}}{{address}}{{/links}}".write(
            toFile: folder.path("mail.html"), atomically: true, encoding: .utf8)
        let own = OwnMail(subject: "A", text: "Here:\n{{link}}", application: nil)
        let mail = try Templates(overriding: folder.path).mails(
            .resetPassword(link: "https://a.example/x", hours: 24), in: Frame(language: .english), saying: own)
        #expect(mail.html == "<p>Here:\nhttps://a.example/x</p>")
    }
}
