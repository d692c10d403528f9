import Foundation
import Pages
import Testing

@Suite("Pages: templates, brands and languages") struct PageOverridingTests {
    /// Templates with `files` in the operator's folder.
    private func templates(_ files: [String: String]) throws -> Templates {
        let folder = try TemporaryFolder()
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: folder.path(name))) }
        return try withExtendedLifetime(folder) { try Templates(overriding: folder.path) }
    }

    private let norwegian = Frame(language: .norwegian)

    @Test("Templates, texts and a stylesheet in the templates folder replace the built-in ones; the rest stays")
    func overriding() throws {
        let templates = try templates([
            "signed_out.html": "<h1>[[signedOut.title]]</h1><p>Bye! [[signedOut.text]]</p>", "spindle.css": "p {}",
            "no.json": #"{"signedOut.title": "Ha det", "logout.submit": "Hade {{account}}"}"#,
            ".notes": "", "README.md": "ours",
        ])
        let page = templates.signedOut(SignedOutPage(), in: norwegian)
        #expect(page.contains("<title>Ha det</title>"))
        #expect(page.contains("<h1>Ha det</h1><p>Bye! Du kan lukke denne siden.</p>"))
        #expect(templates.signedOut(SignedOutPage(), in: Frame(language: .swedish)).contains("<h1>Du är utloggad</h1>"))
        let logout = LogoutPage(account: "<b>", action: "/logout", formToken: "t")
        #expect(templates.logout(logout, in: norwegian).contains("Hade &lt;b&gt;</button>"))
        #expect(templates.stylesheet == "p {}")
        #expect(templates.script.contains("submit"))
    }

    @Test(
        "A fault in the templates folder is reported with its file, and with the text's key if there is one",
        arguments: [
            ("login.html", "<h1>[[login.titel]]</h1>", "login.titel"),
            ("login.html", "<h1>{{#a}}x</h1>", nil),
            ("login.html", "<h1>x</h1>{{{email}}}", nil),
            ("login.html", "<h1>x</h1>{{& email}}", nil),
            ("login.html", "<h1>x</h1>{{=<% %>=}}", nil),
            ("login.html", "<p>no heading</p>", nil),
            ("login.html", "<h1>[[login.title</h1>", nil),
            ("frame.html", "<title>[[title]]</title>", "page"),
            ("frame.html", "[[page]] [[frame.none]]", "frame.none"),
            ("mail.html", "[[mail.none]]", "mail.none"),
            ("sv.json", #"{"login.titel": "Logga in"}"#, "login.titel"),
            ("sv.json", #"{"login.title": 1}"#, "login.title"),
            ("sv.json", #"{"login.title": "{{{email}}}"}"#, "login.title"),
            ("sv.json", #"{"refusal.overloaded": "{{#x}}"}"#, "refusal.overloaded"),
            ("sv.json", "{", nil),
            ("logn.html", "<h1>x</h1>", nil),
            ("fr.json", "{}", nil),
            ("submit.js", "", nil),
        ] as [(String, String, String?)])
    func fault(file: String, text: String, key: String?) throws {
        let fault = try #require(throws: TemplateFault.self) { try templates([file: text]) }
        #expect(fault.file.hasSuffix("/\(file)"))
        #expect(fault.key == key)
        #expect(fault.description.hasPrefix(fault.file))
    }

    @Test("A missing templates folder is a fault, and so is a file in it that is not text")
    func unreadable() throws {
        #expect(throws: TemplateFault.self) { try Templates(overriding: "/nowhere/at/all") }
        let folder = try TemporaryFolder()
        try Data([0x80, 0xff]).write(to: URL(filePath: folder.path("login.html")))
        #expect(throws: TemplateFault.self) { try Templates(overriding: folder.path) }
    }

    @Test("A file in the templates folder that leads to a device is refused")
    func special() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("spindle.css"), withDestinationPath: "/dev/null")
        #expect(throws: TemplateFault.self) { try Templates(overriding: folder.path) }
    }

    @Test(
        "Text on a brand's colour is black or white, whichever is easier to read",
        arguments: [
            ("#000000", "#ffffff"), ("#ffffff", "#000000"), ("#FFE600", "#000000"), ("#1d4ed8", "#ffffff"),
            ("#777777", "#000000"), ("#757575", "#ffffff"), ("#e2007a", "#ffffff"),
        ])
    func contrast(accent: String, onAccent: String) {
        let css = Stylesheet.brand(accent: accent)
        #expect(css.contains("--accent: \(accent.lowercased());"))
        #expect(css.contains("--on-accent: \(onAccent);"))
    }

    @Test("A button in a brand colour close to the card's colour gets an edge, in light or in dark mode")
    func edges() {
        let edges = { (accent: String) in
            Stylesheet.brand(accent: accent).matches(of: /--accent-edge: ([^;]+);/).map { String($0.output.1) }
        }
        #expect(edges("#ffffff") == ["var(--line)", "transparent"])
        #expect(edges("#101010") == ["transparent", "var(--line)"])
        #expect(edges("#3b82f6") == ["transparent", "transparent"])
    }

    @Test(
        "Only a colour of six hexadecimal digits becomes part of a brand's stylesheet",
        arguments: ["", "red", "#fff", "#12345g", "#+12345", "#123456;}"])
    func noColour(accent: String) { #expect(Stylesheet.brand(accent: accent).isEmpty) }

    @Test(
        "A page's language is the first known of ui_locales, else the browser's most wanted, else English",
        arguments: [
            (nil, nil, .english), ("", "", .english), ("fr sv en", "de", .swedish), ("fr", "de-AT", .german),
            ("nb", nil, .norwegian), ("nn-NO", nil, .norwegian), ("NO", nil, .norwegian), ("de_CH", nil, .german),
            (nil, "fr;q=1, sv;q=0.5, de;q=0.8", .german), (nil, "sv, de", .swedish), (nil, "de;q=0, *", .english),
            (nil, "da, nb;q=0.9, en;q=0.8", .norwegian), (nil, "sv;q=x, en;q=0.1", .english), (nil, "*", .english),
        ] as [(String?, String?, Language)])
    func preferred(uiLocales: String?, acceptLanguage: String?, language: Language) {
        #expect(Language.preferred(uiLocales: uiLocales, acceptLanguage: acceptLanguage) == language)
    }

    @Test("Only the first thousand bytes of a browser's Accept-Language are read")
    func long() {
        func language(_ accepted: String) -> Language {
            Language.preferred(uiLocales: nil, acceptLanguage: accepted)
        }
        let (tag, weights) = (String(repeating: "a", count: 30_000), String(repeating: ";q=0.9", count: 5000))
        #expect(language("\(tag),sv") == .english)
        #expect(language("sv,\(tag)") == .swedish)
        #expect(language("de;q=0.1\(weights),sv") == .german)
        // The thousandth byte is within a character.
        #expect(language("sv," + String(repeating: "é", count: 15_000)) == .swedish)
        #expect(language(String(repeating: "a,", count: 15_000) + "sv") == .english)
    }

    @Test("Every mail names its sender in text and HTML, and has links on their own lines, not in the subject")
    func mails() throws {
        let link = "https://a.example/x?a=1&b=2"
        let templates = try Templates(site: "a.example")
        for language in Language.allCases {
            for (name, letter) in PageSamples.letters(link) {
                let mail = templates.mails(letter, in: Frame(language: language, brand: Brand(name: "Shop & Son")))
                #expect(mail.text.contains("Shop & Son"), "\(name)")
                #expect(mail.html.contains("<bdi>Shop &amp; Son</bdi>"), "\(name)")
                #expect(mail.text.split(separator: "\n").last == "a.example", "\(name)")
                for text in [mail.subject, mail.text] { #expect(!text.contains(/&amp;|&#|[<>]|\[\[|\{\{/), "\(name)") }
                #expect(!mail.subject.contains(link), "a subject is read by too many: \(name)")
                for line in mail.text.split(separator: "\n") where line.contains(link) && name != "emailChanged" {
                    let isSentence = name == "deletionScheduled" && line != link
                    #expect(isSentence || line.trimmingCharacters(in: .whitespaces) == link, "\(name): \(line)")
                }
                let texts = try Translation.of(language)
                for part in ["subject", "text", "otherwise"] { #expect(texts["mail.\(name).\(part)"] != nil) }
            }
        }
        let plain = templates.mails(.accountDeleted, in: Frame(language: .english))
        #expect(plain.subject == "Your account at a.example is deleted")
    }

    @Test("A brand's name cannot begin a new line in a mail")
    func lines() throws {
        let frame = Frame(language: .english, brand: Brand(name: "A\r\nBcc: x@evil.example\u{2028}B"))
        let mail = try Templates().mails(.signInCode(code: "123456", minutes: 10), in: frame)
        #expect(mail.subject == "Your code for A  Bcc  x evil.\u{2060}example B")
        #expect(!mail.text.contains("\nBcc"))
    }
}

/// The files of the built-in translations, in the sources.
enum Translation {
    private static let pages = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/Pages")

    /// All templates in one text.
    static func templates() throws -> String {
        let folder = pages.appending(path: "Resources")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { ["html", "txt"].contains($0.pathExtension) }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    }

    static func of(_ language: Language) throws -> [String: String] {
        let file = pages.appending(path: "Texts/\(language.rawValue).json")
        return try JSONDecoder().decode([String: String].self, from: try Data(contentsOf: file))
    }

    /// The names that a text has in double braces.
    static func placeholders(of key: String, in language: Language) throws -> Set<String> {
        let text = try of(language)[key] ?? ""
        return Set(text.matches(of: /\{\{[^}]*\}\}/).map { String($0.output) })
    }
}
