public import Authentication
public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Pages
import Values

/// `POST /passwordless/start` and `/passwordless/resend`: SPiD's apps ask for a code by mail, which `/oauth/ro` takes.
public struct PasswordlessEndpoint: Endpoint {
    private let passwordless: Passwordless
    private let verifications: Verifications
    private let clients: Clients
    private let authenticator: ClientAuthenticator
    private let pages: PageRenderer
    private let mail: MailComposer

    public init(
        passwordless: Passwordless, verifications: Verifications, clients: Clients, authenticator: ClientAuthenticator,
        pages: PageRenderer, mail: MailComposer
    ) {
        self.passwordless = passwordless
        self.verifications = verifications
        self.clients = clients
        self.authenticator = authenticator
        self.pages = pages
        self.mail = mail
    }

    public func add(to router: inout Routes) {
        router.post("/passwordless/start") { request, context in
            try await respond(request, context) { form, _ in
                switch form["connection"] {
                case "email": break
                case "sms", "phone": throw OAuthError.noTextMessages
                default: throw OAuthError.unknownConnection
                }
                guard let email = EmailAddress(reachable: form["email"]) else { throw OAuthError.noAddress }
                return email
            }
        }
        router.post("/passwordless/resend") { request, context in
            try await respond(request, context) { form, client in
                guard let token = form["passwordless_token"].flatMap({ PasswordlessToken($0) }),
                    let email = try await passwordless.address(of: token, at: client.id)
                else { throw OAuthError.deadPasswordlessToken }
                return email
            }
        }
    }

    /// Sends a code to the address that `find` takes from the form. Whether the address has a user changes neither the
    /// answer nor what is written.
    private func respond(
        _ request: Request, _ context: SpindleContext, find: (Form, Client) async throws -> EmailAddress
    ) async throws -> Response {
        do {
            let form = try Form.read(request)
            context.presumedClient?.note(ClientCredentials.named(request, form))
            let client = try await client(request, form)
            let email = try await find(form, client)
            let visit = try await pages.visit(
                request, client: client, uiLocales: form["locale"]?.replacing("_", with: "-"))
            let prepared = try await passwordless.prepare(email, at: client.id)
            let lifetime = Verification.Purpose.signIn.codeLifetime ?? .zero
            let template = MailTemplate.signInCode(
                code: prepared.draft.code ?? "", minutes: Int(lifetime.seconds / 60))
            let asked = try await verifications.ask(
                prepared.draft, from: pages.address.of(request), hasReader: prepared.hasReader,
                post: mail.reply(template, to: email, visit))
            mail.send()
            if case .wait(let wait) = asked { throw OAuthError.tooManyMails(wait) }
            return .json(.members(["passwordless_token": .string(prepared.token.text)]))
        } catch let refusal as OAuthError {
            return refusal.nestedResponse(
                logger: context.logger, triedHeader: request.headers[.authorization] != nil)
        }
    }

    /// The client of the request. One of SPiD's SDKs sends no secret here; it does where the code is taken. Whoever
    /// sends another's `client_id` gets a token that is worth nothing without the mail.
    private func client(_ request: Request, _ form: Form) async throws -> Client {
        let credentials = try ClientCredentials.read(request, try form.parameters)
        let client: Client
        if case .none = credentials.proof {
            // A page of anybody's could have its visitors ask for mails to others, each from an address of their own.
            guard request.headers[.origin] == nil, request.headers[.secFetchSite] == nil else {
                throw OAuthError.askedByPage
            }
            guard let found = try await clients.findLive(credentials.id) else {
                throw OAuthError.clientRefused("unknown_client", credentials.id)
            }
            client = found
        } else {
            client = try await authenticator.authenticate(credentials)
        }
        guard client.spidCompatible, client.may(.passwordless) else { throw OAuthError.grantNotAllowed(client.id) }
        return client
    }
}

/// The words between asterisks are what SPiD's SDKs look for.
extension OAuthError {
    fileprivate static let noTextMessages = OAuthError(
        .invalidRequest, "no_text_messages", "*phone_number* cannot be used: codes are sent by e-mail only.")
    fileprivate static let unknownConnection = OAuthError(
        .invalidRequest, "unknown_connection", "connection must be email.")
    fileprivate static let askedByPage = OAuthError(
        .invalidRequest, "passwordless_by_page", "Apps ask for codes, and pages only with the client's secret.")
    fileprivate static let noAddress = OAuthError(
        .invalidRequest, "malformed_email", "*email* is missing, or not an e-mail address.")
    fileprivate static let deadPasswordlessToken = OAuthError(
        .invalidRequest, "passwordless_token_dead", "*passwordless_token* is unknown, used or too old: start again.")
    fileprivate static func tooManyMails(_ wait: Duration) -> OAuthError {
        OAuthError(
            .tooManyRequests, "mails_throttled", "Too many mails. Wait as long as Retry-After says.", retryAfter: wait)
    }
}
