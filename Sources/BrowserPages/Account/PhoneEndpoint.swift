public import Authentication
import Directory
import HTTP
public import HTTPSupport
import OAuth
import Pages
import Storage
import Values

/// `/account/phones`: the number that a user's codes go to by text message, once they have proved to read it.
public struct PhoneEndpoint: Endpoint {
    static let path = "/account/phones"
    let gate: UserAccess
    let users: Users
    private let verifications: Verifications
    private let phones: PhoneVerification
    private let mail: MailComposer
    let texts: TextComposer?

    public init(
        gate: UserAccess, users: Users, verifications: Verifications, phones: PhoneVerification, mail: MailComposer,
        texts: TextComposer?
    ) {
        self.gate = gate
        self.users = users
        self.verifications = verifications
        self.phones = phones
        self.mail = mail
        self.texts = texts
    }

    public func add(to router: inout Routes) {
        router.get("\(Self.path)", .showPhones, isSafe: true, use: show)
        router.get("/profile-pages/about-you/phone", .leadToPhones, isSafe: true, use: showFromSPiD)
        router.post("\(Self.path)", .addPhone, use: ask)
        router.get("\(Self.codePath)", .showPhoneCode, isSafe: true, use: showCode)
        router.post("\(Self.codePath)", .checkPhoneCode, use: check)
        router.form("\(Self.path)/remove", .removePhone, from: Self.path, use: remove)
    }

    private static let codePath = path + "/check"

    /// The form for the code. It keeps the way back that `request` names.
    private func codes(_ request: Request) -> VerificationForm {
        VerificationForm(
            pages: gate.pages, verifications: verifications, purpose: .verifyPhone, wording: .verifyPhone,
            path: Self.codePath, start: Self.path, back: AccountReturn(request))
    }

    /// Redirects to the page, with `notice`.
    private func done(_ notice: PhonesPage.Notice, _ request: Request) -> Response {
        let back = AccountReturn(request).map { "&\($0.query)" } ?? ""
        return .sendBrowser(to: "\(Self.path)?done=\(notice)\(back)", status: .seeOther)
    }

    @Sendable private func showCode(_ request: Request, context: SpindleContext) async throws -> Response {
        switch try await gate.show(request) {
        case .refuse(let response): response
        case .enter(let entry): try await codes(request).show(request, of: entry.session.user)
        }
    }

    /// The user of a form. A number gives full access to the user, so an unattended screen must not be enough.
    private func submit(
        _ request: Request, _ work: (UserAccess.Entry) async throws -> Response
    ) async throws -> Response {
        switch try await gate.submit(request) {
        case .refuse(let response): return response
        case .enter(let entry):
            guard gate.isRecent(entry.session) else { return gate.confirmFirst(for: .phones) }
            return try await work(entry)
        }
    }

    /// Sends a code. Only a reader of the number learns whether another user has it.
    @Sendable private func ask(_ request: Request, context: SpindleContext) async throws -> Response {
        try await submit(request) { entry in
            guard let texts, entry.session.emailVerified else {
                let response = try await page(entry, request, status: .conflict)
                return response.because(of: NamedRefusal("unverified_user"))
            }
            guard let phone = PhoneNumber(entry.form["phone_number"] ?? "") else {
                return try await page(entry, request, refusal: .notAPhoneNumber, status: .badRequest)
            }
            let draft = verifications.draft(
                .verifyPhone, phone: phone, user: entry.session.user, browser: gate.pages.forms.browser(request))
            let asked: Verifications.Asked
            do {
                asked = try await verifications.ask(
                    draft, from: gate.newSessions.address(request), by: SignedInUser(of: entry.session),
                    post: texts.reply(draft, to: phone, entry.visit))
            } catch is PasswordSignIn.Refusal {
                return gate.signInFirst(for: .phones, request)
            }
            texts.send()
            if case .wait(let wait) = asked {
                let error = OAuthError.tooManySignIns(wait)
                var response = try await page(
                    entry, request, refusal: .tooManyAttempts(seconds: wait.wholeSeconds), status: error.status)
                error.decorate(&response.headers)
                return response.because(of: error)
            }
            return codes(request).ask(draft.verification.id)
        }
    }

    @Sendable private func check(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await gate.pages.visit(request)
        guard gate.pages.forms.accepts(form, of: request) else { return gate.pages.foreignForm(request, visit) }
        guard let session = try await gate.newSessions.sessions.of(request, gate.pages.site), session.origin == .signIn
        else { return gate.signInFirst(for: .phones, request) }
        let warning = try await gate.visitToWarn(session.user, request)
        do {
            let key = codes(request).key(form, request)
            let outcome = try await phones.finish(
                key, by: codes(request).attempt(key, request), session: session
            ) { phone, db in
                // The mail warns a user who did not do this.
                guard let email = session.email else { return }
                let told = MailTemplate.phoneVerified(number: phone.veiled, link: mail.link(Self.path))
                try mail.post(told, to: email, warning)(db)
            }
            mail.send()
            switch outcome {
            case .failure(let refusal): return codes(request).refusal(refusal, form, request, visit)
            case .success: return done(.added, request)
            }
        } catch StorageError.conflict {
            return gate.pages.message(.phoneTaken, visit, status: .conflict)
        }
    }

    @Sendable private func remove(_ request: Request, context: SpindleContext) async throws -> Response {
        try await submit(request) { entry in
            try await gate.waiting(entry) {
                try await phones.remove(of: entry.session)
                return done(.removed, request)
            }
        }
    }
}

/// The page itself.
extension PhoneEndpoint {
    /// Any other value of `?done=` shows nothing, so no link can put text on the page.
    private static let notices: [String: PhonesPage.Notice] = ["added": .added, "removed": .removed]

    /// `GET`: for a user who signed in here. SPiD's apps open it too, with a way back, in web views that show only the
    /// account page.
    @Sendable func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let elsewhere = Response.sendBrowser(
            to: AccountReturn(request)?.path ?? AccountEndpoint.path, status: .seeOther)
        switch try await gate.show(request, inWebViews: true) {
        case .refuse(let response): return texts != nil ? response : elsewhere
        case .enter(let entry):
            guard entry.session.origin == .signIn, try await isThere(for: entry.session.user) else { return elsewhere }
            let done = request.isAfterOurForm ? entry.form["done"] : nil
            return try await page(entry, request, notice: done.flatMap { Self.notices[$0] }, status: .ok)
        }
    }

    /// `GET`: SPiD's second address of the page.
    @Sendable func showFromSPiD(_ request: Request, context: SpindleContext) async throws -> Response {
        .sendBrowser(to: AccountReturn(request)?.on(.phones).path ?? Self.path, status: .seeOther)
    }

    /// Without text messages, the page is only there to remove a number.
    private func isThere(for user: UserID) async throws -> Bool {
        guard texts == nil else { return true }
        return try await users.find(user)?.verifiedPhone != nil
    }

    func page(
        _ entry: UserAccess.Entry, _ request: Request, notice: PhonesPage.Notice? = nil, refusal: PageRefusal? = nil,
        status: Status
    ) async throws -> Response {
        guard let user = try await users.find(entry.session.user) else { throw HTTPRefusal(.notFound) }
        let issued = gate.pages.forms.issue(request, to: user.id)
        let back = AccountReturn(request)
        let page = PhonesPage(
            action: Self.path, formToken: issued.token, phone: user.verifiedPhone?.text,
            account: AccountEndpoint.path,
            back: try await gate.pages.wayBack(back).map { .init(name: $0.name, address: $0.address) },
            returnQuery: back.map { "?\($0.query)" } ?? "",
            adding: texts == nil ? .unavailable : user.emailVerified ? .possible : .unverified,
            typed: entry.form["phone_number"] ?? "", notice: notice, refusal: refusal)
        return gate.pages.page(
            gate.pages.templates.phones(page, in: entry.visit.frame), entry.visit, status: status,
            cookies: [issued.setCookie], refusal: refusal)
    }
}
