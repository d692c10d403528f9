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
    public let developmentAnswer: Template<DevelopmentAnswerPage>
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
        developmentAnswer = try template("development_answer.html")
        self.isDevelopment = isDevelopment
        mails = try MailTemplates(from: files, translations: translations, site: site)
        texts = TextTemplate(from: translations, site: site)
        stylesheet = try files.text("spindle.css")
        script = try files.text("submit.js")
        messageScript = try files.text("message.js")
    }
}
