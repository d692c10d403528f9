import Mustache

/// The HTML of one kind of page, in every language: `templates.login(page, in: frame)` writes it.
public struct Template<Page: Sendable>: Sendable {
    private let versions: [Language: (texts: Texts, document: MustacheTemplate)]
    private let site: String
    private let words: @Sendable (Page, Texts) -> [String: Any]

    /// Puts the template `name` into the frame that every page shares, once for each language. `banner` is a template
    /// for the top of the page.
    init(
        _ name: String, from files: ResourceFiles, translations: Translations, site: String, banner: String?
    ) throws(TemplateFault) where Page: PageContents {
        var versions: [Language: (texts: Texts, document: MustacheTemplate)] = [:]
        for (language, texts) in translations.languages {
            versions[language] = (texts, try Self.document(name, from: files, texts: texts, banner: banner))
        }
        self.versions = versions
        self.site = site
        words = { page, texts in page.words(texts) }
    }

    private static func document(
        _ name: String, from files: ResourceFiles, texts: Texts, banner: String?
    ) throws(TemplateFault) -> MustacheTemplate {
        let path = files.path(name)
        let page = try texts.fill(try files.text(name), of: path)
        // The page's heading is its title, so the two never differ.
        guard let title = Markup(page).heading else {
            throw TemplateFault(file: path, "has no <h1> with nothing but text in it")
        }
        let frame = files.path("frame.html")
        let empty = try files.text("frame.html")
        var document = try texts.fill(empty, of: frame, parts: ["title": title, "page": page])
        guard Markup(empty).firstIndex(of: "[[page]]") != nil else {
            throw TemplateFault(file: frame, key: "page", "is not in it")
        }
        if let banner {
            // An operator's frame gets the banner too, and cannot leave it out.
            guard let body = document.firstMatch(of: /<body[^>]*>/.ignoresCase()) else {
                throw TemplateFault(file: frame, "has no <body> for the banner of development mode")
            }
            document.insert(
                contentsOf: "\n" + (try texts.fill(try files.embedded(banner), of: banner)), at: body.range.upperBound)
        }
        do {
            return try .parse("{{#page}}{{#words}}\(document){{/words}}{{/page}}", of: frame)
        } catch {
            // Parsing the page by itself shows which of the two files is faulty.
            _ = try MustacheTemplate.parse(page, of: path)
            throw error
        }
    }

    /// Writes `page` as a whole HTML document; every value in it is escaped.
    public func callAsFunction(_ page: Page, in frame: Frame) -> String {
        guard let version = versions[frame.language] else { return "" }
        var values: [String: Any] = [
            "page": page, "words": words(page, version.texts), "language": frame.language.rawValue, "site": site,
        ]
        values["brand"] = frame.brand
        values["application"] = frame.application
        return version.document.render(values, escaping: .html).breakingAddresses
    }
}

extension String {
    /// The markup with a possible line break before the “@” of each address that is alone in a `<bdi>`: on a narrow
    /// screen the address would otherwise break inside a word. Escaped values contain no “<”.
    fileprivate var breakingAddresses: String {
        let text = Array(utf8)
        let opening = Array("<bdi>".utf8)
        var broken: [UInt8] = []
        broken.reserveCapacity(text.count + 64)
        var standsByItself = false
        for (index, byte) in text.enumerated() {
            if byte == UInt8(ascii: "<") {
                standsByItself = text[index...].starts(with: opening)
            } else if byte == UInt8(ascii: "@"), standsByItself {
                broken += "<wbr>".utf8
            }
            broken.append(byte)
        }
        return String(decoding: broken, as: UTF8.self)
    }
}

/// Every page that users see and every mail that they get: rendered on the server, readable in a webview, whole without
/// JavaScript.
///
/// A new page is a file of its values beside this one, a template in `Resources`, its texts in each language, and a
/// line here.
public struct Templates: Sendable {
    public let login: Template<LoginPage>
    public let code: Template<CodePage>
    /// The same for a code by text message.
    public let phoneCode: Template<CodePage>
    public let signUp: Template<SignUpPage>
    public let signUpConfirm: Template<SignUpConfirmPage>
    public let confirmAddress: Template<ConfirmAddressPage>
    public let forgotten: Template<ForgottenPage>
    public let newPassword: Template<NewPasswordPage>
    public let verify: Template<VerifyPage>
    public let pick: Template<PickPage>
    public let switchAccount: Template<SwitchAccountPage>
    public let signedIn: Template<SignedInPage>
    public let logout: Template<LogoutPage>
    public let signedOut: Template<SignedOutPage>
    public let account: Template<AccountPage>
    public let phones: Template<PhonesPage>
    public let deleteAccount: Template<DeleteAccountPage>
    public let restore: Template<RestorePage>
    public let introduction: Template<IntroductionPage>
    public let consent: Template<ConsentPage>
    public let formPost: Template<FormPostPage>
    public let webMessage: Template<WebMessagePage>
    public let message: Template<MessagePage>
    public let developmentSignIn: Template<DevelopmentSignInPage>
    public let developmentHome: Template<DevelopmentHomePage>
    public let developmentAnswer: Template<DevelopmentAnswerPage>
    public let developmentMails: Template<DevelopmentMailsPage>
    public let developmentRequests: Template<DevelopmentRequestsPage>
    public let mails: MailTemplates
    public let texts: TextTemplate
    /// Whether every page says that any user can be signed in by name. Only a server with these pages allows it.
    public let isDevelopment: Bool
    /// The stylesheet of all pages, for `Stylesheet.path`.
    public let stylesheet: String
    /// The script that submits a form, for `Stylesheet.scriptPath`.
    public let script: String
    /// The script that sends an answer to another page.
    public let messageScript: String
    /// The script that adds buttons to copy text, on pages for developers.
    public let copyScript: String
    /// The script that sends an answer in the fragment on to the server, on a page for developers.
    public let fragmentScript: String

    /// Parses all templates in all languages, so that a broken one stops the start and does not reach a user.
    ///
    /// - Parameters:
    ///   - folder: an operator's own files, which replace ours of the same name.
    ///   - site: what this server is called without a brand: its host.
    ///   - isDevelopment: a banner on every page, in any frame, says that nothing here is real.
    public init(overriding folder: String? = nil, site: String = "Spindle", isDevelopment: Bool = false) throws {
        let files = try ResourceFiles(overriding: folder)
        let translations = try Translations(from: files)
        func template<Page: PageContents>(_ name: String) throws(TemplateFault) -> Template<Page> {
            try Template(
                name, from: files, translations: translations, site: site,
                banner: isDevelopment ? ResourceFiles.developmentBanner : nil)
        }
        login = try template("login.html")
        code = try template("code.html")
        phoneCode = try template("phone_code.html")
        signUp = try template("sign_up.html")
        signUpConfirm = try template("sign_up_confirm.html")
        confirmAddress = try template("confirm_address.html")
        forgotten = try template("forgotten.html")
        newPassword = try template("new_password.html")
        verify = try template("verify.html")
        pick = try template("pick.html")
        switchAccount = try template("switch_account.html")
        signedIn = try template("signed_in.html")
        logout = try template("logout.html")
        signedOut = try template("signed_out.html")
        account = try template("account.html")
        phones = try template("phones.html")
        deleteAccount = try template("delete_account.html")
        restore = try template("restore.html")
        introduction = try template("introduction.html")
        consent = try template("consent.html")
        formPost = try template("form_post.html")
        webMessage = try template("web_message.html")
        message = try template("message.html")
        developmentSignIn = try template("development_sign_in.html")
        developmentHome = try template("development_home.html")
        developmentAnswer = try template("development_answer.html")
        developmentMails = try template("development_mails.html")
        developmentRequests = try template("development_requests.html")
        self.isDevelopment = isDevelopment
        mails = try MailTemplates(from: files, translations: translations, site: site)
        texts = TextTemplate(from: translations, site: site)
        stylesheet = try files.text("spindle.css")
        script = try files.text("submit.js")
        messageScript = try files.text("message.js")
        copyScript = try files.text("copy.js")
        fragmentScript = try files.text("fragment.js")
    }
}

/// A template or a translation that cannot be used. It stops the start, and names the file and the key.
public struct TemplateFault: Error, CustomStringConvertible {
    public let file: String
    public let key: String?
    public let problem: String

    init(file: String, key: String? = nil, _ problem: String) {
        self.file = file
        self.key = key
        self.problem = problem
    }

    public var description: String { "\(file)\(key.map { ", \($0)" } ?? ""): \(problem)" }
}

extension MustacheTemplate {
    /// Parses `text`, and refuses any tag that bypasses the escaping.
    static func parse(_ text: String, of file: String, key: String? = nil) throws(TemplateFault) -> MustacheTemplate {
        if let tag = Markup(text).forbiddenTag {
            throw TemplateFault(
                file: file, key: key, "“\(tag)” is not allowed: use {{name}}, {{#name}}, {{^name}} and {{/name}}")
        }
        do {
            return try MustacheTemplate(parsing: text)
        } catch {
            throw TemplateFault(file: file, key: key, "\(error)")
        }
    }
}
