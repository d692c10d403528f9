public import Authentication
import Cryptography
import Directory
import HTTP
public import HTTPSupport
public import OAuth
import Pages
import Storage
import Text
import Values

/// `GET` and `POST /signup`: signs up a new user, by a typed code or an opened link.
public struct SignUpEndpoint: Endpoint {
    static let path = "/signup"
    private let pages: PageRenderer
    private let verifications: Verifications
    private let signUp: SignUp
    private let agreements: Agreements
    private let newSessions: NewSessions
    private let mail: MailComposer

    public init(
        pages: PageRenderer, verifications: Verifications, signUp: SignUp, agreements: Agreements,
        newSessions: NewSessions,
        mail: MailComposer
    ) {
        self.pages = pages
        self.verifications = verifications
        self.signUp = signUp
        self.agreements = agreements
        self.newSessions = newSessions
        self.mail = mail
    }

    public func add(to router: inout Routes) {
        router.get("\(Self.path)", .showSignUp, isSafe: true, use: show)
        router.post("\(Self.path)", .signUp, use: ask)
        router.get("\(codes.path)", .showSignUpCode, isSafe: true) { request, _ in try await codes.show(request) }
        router.post("\(codes.path)", .checkSignUpCode, use: check)
        let link = SignUpLink(
            pages: pages, verifications: verifications, signUp: signUp, agreements: agreements,
            newSessions: newSessions)
        router.get("\(Self.path)/confirm/{link}", .showSignUpLink, isSafe: true, use: link.show)
        router.post("\(Self.path)/confirm/{link}", .confirmSignUpLink, use: link.confirm)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let query = Form.query(of: request.target.text)
        if query.isAuthorizationRequest { return try await pages.entering("/flow/signup", query, request) }
        let visit = try await pages.visit(request, to: try await pages.destination(query["continue"], request))
        return try await pages.signUp(
            request, visit, try await newSessions.sessions.of(request, pages.site), agreements.terms(for: visit.client))
    }

    private var codes: VerificationForm {
        VerificationForm(
            pages: pages, verifications: verifications, purpose: .signUp, wording: .signUp,
            path: Self.path + "/check", start: Self.path)
    }

    /// The response is the same whether or not the address is taken: its owner gets a mail instead.
    @Sendable private func ask(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await pages.visit(request, to: try await pages.destination(form["continue"], request))
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, visit) }
        let terms = agreements.terms(for: visit.client)
        func refuse(
            _ refusal: PageRefusal, _ status: Status = .badRequest
        ) async throws -> Response {
            try await pages.signUp(
                request, visit, try await newSessions.sessions.of(request, pages.site), terms,
                email: form["email"] ?? "", name: form["name"] ?? "", refusal: refusal, status: status)
        }
        let name = DisplayedName(form["name"] ?? "")
        guard let email = EmailAddress(new: form["email"]) else { return try await refuse(.notAnAddress) }
        guard !name.isTooLong else { return try await refuse(.tooLong(in: .name)) }
        guard name.isFit else { return try await refuse(.unfitText(in: .name)) }
        do {
            let password = try Password(
                form["password"] ?? "", personal: [email.text, name.text, visit.frame.brand?.name ?? ""])
            let prepared = try await signUp.prepare(
                email: email, password: password, name: name.text.isEmpty ? nil : name.text,
                agreed: Agreements.note(of: form.agreed(of: terms)), browser: pages.forms.browser(request),
                continueTo: visit.destination?.text ?? "", from: newSessions.address(request))
            let post = pages.keeping(
                visit.destination, for: .signUp, with: mail.reply(template(prepared), to: email, visit))
            // The throttle was charged before the hash.
            _ = try await verifications.ask(prepared.draft, from: nil, post: post)
            mail.send()
            return codes.ask(prepared.draft.verification.id)
        } catch let fault as Authentication.PasswordFault {
            return try await refuse(.weakPassword(fault.onPage))
        } catch let refusal as PasswordSignIn.Refusal {
            let error = refusal.oauthError
            var response = try await refuse(refusal.onPage, error.status)
            error.decorate(&response.headers)
            return response.because(of: error)
        }
    }

    private func template(_ prepared: SignUp.Prepared) -> MailTemplate {
        guard !prepared.isTaken, let code = prepared.draft.code, let link = prepared.draft.link else {
            return .signUpExisting(signInLink: mail.link("/login"), resetLink: mail.link(PasswordEndpoint.path))
        }
        return .signUpCode(
            code: code, link: mail.link("\(Self.path)/confirm/\(link.value)"),
            minutes: Int((Verification.Purpose.signUp.codeLifetime ?? .zero).seconds / 60))
    }

    @Sendable private func check(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await pages.visit(request, to: try await pages.destination(form["continue"], request))
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, visit) }
        let key = codes.key(form, request)
        let attempt = codes.attempt(key, request)
        let newSession = try await newSessions.newSession(request, by: .password, at: visit, after: attempt)
        do {
            let outcome = try await signUp.finish(
                key, by: attempt, opening: newSession.opening, replacing: newSession.replaces)
            switch outcome {
            case .failure(let refusal): return codes.refusal(refusal, form, request, visit)
            case .success:
                return .sendBrowser(to: newSession.onward ?? "/account", status: .seeOther, cookies: newSession.cookies)
            }
        } catch StorageError.conflict {
            return pages.message(
                .accountExists, visit, values: ["email": form["email"] ?? ""], status: .conflict)
        }
    }
}

extension PageRenderer {
    func signUp(
        _ request: Request, _ visit: PageContext, _ session: Session?, _ terms: [Terms], email: String = "",
        name: String = "", refusal: PageRefusal? = nil, status: Status = .ok
    ) async throws -> Response {
        let form = forms.issue(request)
        let signUp = SignUpPage(
            action: SignUpEndpoint.path, formToken: form.token, continueTo: visit.destination?.text ?? "", email: email,
            name: name, clientName: visit.client?.name, terms: terms.map { TermsLink($0, of: visit.client) },
            ways: try await ways(for: visit, of: session), refusal: refusal)
        return page(
            templates.signUp(signUp, in: visit.frame), visit.framable, status: status, cookies: [form.setCookie],
            formsLeaveSite: visit.destination?.interaction != nil, refusal: refusal)
    }
}

/// A name as a user typed it, in any script, without characters that control a terminal or break a line.
struct DisplayedName: Sendable {
    let text: String

    init(_ text: String) {
        self.text = String(text.trimming(while: \.isWhitespace))
    }

    // The limits of `UserChanges`.
    var isTooLong: Bool { text.utf8.count > ProfileChanges.longest }
    var isFit: Bool { !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } }
}

extension TermsLink {
    /// The link to `terms`, which are those of `client` or of the platform.
    init(_ terms: Terms, of client: Client?) {
        self.init(uri: terms.uri, owner: terms.client == nil ? nil : client?.name)
    }
}

extension Form {
    /// Those of `terms` that the form's page showed: terms that were not shown cannot be accepted.
    func agreed(of terms: [Terms?]) -> [Terms] {
        let shown = Set(pairs.filter { $0.name == "terms" }.map(\.value))
        return terms.compactMap(\.self).filter { shown.contains($0.uri) }
    }
}
