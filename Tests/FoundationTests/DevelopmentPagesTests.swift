import Foundation
import Pages
import Testing

extension PageSamples {
    /// The pages of development mode, which are there in any mode.
    var development: [String: String] {
        var pages = ["developmentSignIn": signIn(nil), "developmentSignIn alone": signIn(nil, alone: true)]
        for fault in DevelopmentSignInPage.Fault.allCases { pages["developmentSignIn \(fault)"] = signIn(fault) }
        for fields in [[], [HiddenField(name: value, value: value)]] {
            let page = DevelopmentAnswerPage(fields: fields, command: fields.isEmpty ? nil : value, again: value)
            pages["developmentAnswer \(fields.count)"] = templates.developmentAnswer(page, in: frame)
        }
        return pages
    }

    private func signIn(_ fault: DevelopmentSignInPage.Fault?, alone: Bool = false) -> String {
        let choices = DevelopmentSignInPage.Choices(lifetime: value, givesRefreshToken: true, errors: [value])
        return templates.developmentSignIn(
            DevelopmentSignInPage(
                action: value, formToken: value, continueTo: value, name: value, clientName: value,
                choices: alone ? nil : choices, fault: fault), in: frame)
    }
}

@Suite("Pages of a server in development mode") struct DevelopmentPagesTests {
    @Test("Every page in development mode begins with the banner", arguments: Language.allCases)
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
