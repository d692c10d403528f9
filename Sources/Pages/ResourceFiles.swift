import System

/// The files of the pages: an operator's folder, or else this binary.
struct ResourceFiles: Sendable {
    private let folder: String?

    /// The banner that says that users on this server are not who they claim to be.
    static let developmentBanner = "development_banner.html"

    /// - Parameter folder: its files replace ours of the same name. Any other file named like a page, a text or a style
    ///   is a mistake.
    init(overriding folder: String?) throws(TemplateFault) {
        self.folder = folder
        guard let folder else { return }
        guard let names = Files.names(in: folder) else {
            throw TemplateFault(file: folder, "there is no such folder, or it cannot be read")
        }
        let endings = [".html", ".json", ".css", ".txt", ".js"]
        for name in names.sorted() where !name.hasPrefix(".") && endings.contains(where: name.hasSuffix) {
            guard Self.embedded[name] != nil, !name.hasSuffix(".js"), name != Self.developmentBanner else {
                throw TemplateFault(file: "\(folder)/\(name)", "no file of this name can be overridden")
            }
        }
    }

    /// The text to use for the file `name`.
    func text(_ name: String) throws(TemplateFault) -> String {
        if let file = try overriding(name) { return file.text }
        return try embedded(name)
    }

    /// Our own text of the file `name`.
    func embedded(_ name: String) throws(TemplateFault) -> String {
        guard let bytes = Self.embedded[name] else { throw TemplateFault(file: name, "is missing") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The operator's text of the file `name`, if there is one.
    func overriding(_ name: String) throws(TemplateFault) -> (path: String, text: String)? {
        guard let folder else { return nil }
        let path = "\(folder)/\(name)"
        guard Files.exists(path) else { return nil }
        // Reading a pipe without a writer would block the start.
        guard !Files.isSpecial(path), let bytes = Files.read(path),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw TemplateFault(file: path, "is not a regular file, or cannot be read as UTF-8") }
        return (path, text)
    }

    /// The name for the file `name` in a fault.
    func path(_ name: String) -> String {
        guard let folder, Files.exists("\(folder)/\(name)") else { return name }
        return "\(folder)/\(name)"
    }
}

/// Our own files. A new one needs a line here.
extension ResourceFiles {
    static let embedded: [String: [UInt8]] = [
        "account.html": PackageResources.account_html,
        "code.html": PackageResources.code_html,
        "confirm_address.html": PackageResources.confirm_address_html,
        "consent.html": PackageResources.consent_html,
        "copy.js": PackageResources.copy_js,
        "fragment.js": PackageResources.fragment_js,
        "de.json": PackageResources.de_json,
        "delete_account.html": PackageResources.delete_account_html,
        "development_answer.html": PackageResources.development_answer_html,
        "development_banner.html": PackageResources.development_banner_html,
        "development_home.html": PackageResources.development_home_html,
        "development_mails.html": PackageResources.development_mails_html,
        "development_requests.html": PackageResources.development_requests_html,
        "development_sign_in.html": PackageResources.development_sign_in_html,
        "en.json": PackageResources.en_json,
        "forgotten.html": PackageResources.forgotten_html,
        "form_post.html": PackageResources.form_post_html,
        "frame.html": PackageResources.frame_html,
        "introduction.html": PackageResources.introduction_html,
        "login.html": PackageResources.login_html,
        "logout.html": PackageResources.logout_html,
        "mail.html": PackageResources.mail_html,
        "mail.txt": PackageResources.mail_txt,
        "message.html": PackageResources.message_html,
        "message.js": PackageResources.message_js,
        "new_password.html": PackageResources.new_password_html,
        "no.json": PackageResources.no_json,
        "phone_code.html": PackageResources.phone_code_html,
        "phones.html": PackageResources.phones_html,
        "pick.html": PackageResources.pick_html,
        "restore.html": PackageResources.restore_html,
        "sign_up.html": PackageResources.sign_up_html,
        "sign_up_confirm.html": PackageResources.sign_up_confirm_html,
        "signed_in.html": PackageResources.signed_in_html,
        "signed_out.html": PackageResources.signed_out_html,
        "spindle.css": PackageResources.spindle_css,
        "submit.js": PackageResources.submit_js,
        "sv.json": PackageResources.sv_json,
        "switch_account.html": PackageResources.switch_account_html,
        "verify.html": PackageResources.verify_html,
        "web_message.html": PackageResources.web_message_html,
    ]
}
