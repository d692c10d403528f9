import Authentication
import Directory
import HTTP
import HTTPSupport
import OAuth
import Pages
import Storage
import Values

/// Sends the codes that SPiD's apps and backends ask for.
struct PasswordlessCodes: Sendable {
    let passwordless: Passwordless
    let verifications: Verifications
    let signUp: AppSignUp
    let pages: PageRenderer
    let mail: MailComposer
    let texts: TextComposer?

    /// A request of an app for a code.
    struct Wanted {
        let recipient: Passwordless.Recipient
        /// The language that the app asked for, now or with the first code.
        let locale: String?
    }

    /// Reads where a first code is to be sent.
    func first(_ value: (String) -> String?) throws(OAuthError) -> Wanted {
        Wanted(recipient: try recipient(value), locale: value("locale"))
    }

    private func recipient(_ value: (String) -> String?) throws(OAuthError) -> Passwordless.Recipient {
        switch value("connection") {
        case "email":
            guard let email = EmailAddress(reachable: value("email")) else { throw .noAddress }
            return .mailbox(email)
        case "sms", "phone":
            guard texts != nil else { throw .noTextMessages }
            guard let phone = (value("phone_number") ?? value("phoneNumber")).flatMap({ PhoneNumber($0) }) else {
                throw .noNumber
            }
            return .phone(phone)
        default: throw .unknownConnection
        }
    }

    /// Another code where the one for `token` was sent, and in its language: SPiD's app for Android does not repeat it.
    func next(after token: String?, locale: String?, at client: Client) async throws -> Wanted {
        guard let token = token.flatMap({ PasswordlessToken($0) }),
            let recipient = try await passwordless.recipient(of: token, at: client)
        else { throw OAuthError.deadPasswordlessToken }
        return Wanted(recipient: recipient, locale: locale ?? token.language)
    }

    /// Sends a code. Neither the response nor what is written depends on whether a user exists.
    ///
    /// - Parameters:
    ///   - address: the requester's address, to be charged; nil if it was charged before. A backend requests for all
    ///     users from one address; when that has used up its number, the client that sent its secret is charged.
    ///   - isProven: whether the client has sent a secret that only servers have.
    ///   - authority: the requester; nil for one without rights to check.
    func send(
        _ wanted: Wanted, for client: Client, _ request: Request, from address: String?, isProven: Bool,
        by authority: (any Authority)? = nil
    ) async throws -> PasswordlessToken {
        let locale = wanted.locale?.replacing("_", with: "-")
        let visit = try await pages.visit(request, client: client, uiLocales: locale)
        let prepared = try await passwordless.prepare(
            wanted.recipient, in: visit.frame.language.rawValue, at: client)
        let post: Verifications.Post
        switch wanted.recipient {
        case .mailbox(let email):
            let lifetime = Verification.Purpose.signIn.codeLifetime ?? .zero
            let template = MailTemplate.signInCode(
                code: prepared.draft.code ?? "", minutes: Int(lifetime.seconds / 60))
            post = mail.reply(template, to: email, visit)
        case .phone(let phone):
            guard let texts else { throw OAuthError.noTextMessages }
            post = texts.reply(prepared.draft, to: phone, visit)
        }
        func ask(from address: String?) async throws -> Verifications.Asked {
            try await verifications.ask(
                prepared.draft, from: address, backend: isProven ? client : nil, hasReader: prepared.hasReader,
                by: authority, post: post)
        }
        var asked = try await ask(from: address)
        if case .wait = asked, address != nil, isProven {
            try await charge(client, of: client.merchant, for: wanted)
            asked = try await ask(from: nil)
        }
        mail.send()
        if case .wait(let wait) = asked { throw OAuthError.tooManyCodes(wait) }
        return prepared.token
    }

    /// Charges `client` for a code that it asks for, like other mails that it causes; for a text message, charges the
    /// client and its merchant.
    func charge(_ client: Client, of merchant: Merchant.ID?, for wanted: Wanted) async throws {
        if let wait = try await signUp.charge(.backend(client)) { throw OAuthError.tooManyCodes(wait) }
        if case .phone = wanted.recipient, let merchant,
            let wait = try await signUp.chargeText(by: client.id, of: merchant)
        {
            try await signUp.refund(.backend(client))
            throw OAuthError.tooManyCodes(wait)
        }
    }
}

/// SPiD's SDKs look for the words between asterisks.
extension OAuthError {
    fileprivate static let noTextMessages = OAuthError(
        .invalidRequest, "no_text_messages",
        "*phone_number* cannot be used: this server sends no text messages. Its operator must set sms.")
    fileprivate static let noNumber = OAuthError(
        .invalidRequest, "malformed_phone", "*phone_number* is missing, or has no + with a country code.")
    fileprivate static let unknownConnection = OAuthError(
        .invalidRequest, "unknown_connection", "connection must be email or sms.")
    fileprivate static let noAddress = OAuthError(
        .invalidRequest, "malformed_email", "*email* is missing, or not an e-mail address.")
    fileprivate static let deadPasswordlessToken = OAuthError(
        .invalidRequest, "passwordless_token_dead", "*passwordless_token* is unknown, used or too old: start again.")
    static func tooManyCodes(_ wait: Duration) -> OAuthError {
        OAuthError(
            .tooManyRequests, "codes_throttled", "Too many codes. Wait as long as Retry-After says.", retryAfter: wait)
    }
}
