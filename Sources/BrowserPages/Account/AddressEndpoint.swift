public import Authentication
import Directory
import HTTP
public import HTTPSupport
import OAuth
import Pages
import Storage
import Values

/// `POST /account/email`: changes the address, once the user has proved to read it.
public struct AddressEndpoint: Endpoint {
    private static let path = "/account/email"
    private let gate: UserAccess
    private let view: AccountView
    private let users: Users
    private let verifications: Verifications
    private let addresses: AddressChange
    private let mail: MailComposer

    public init(
        gate: UserAccess, view: AccountView, users: Users, verifications: Verifications,
        addresses: AddressChange, mail: MailComposer
    ) {
        self.gate = gate
        self.view = view
        self.users = users
        self.verifications = verifications
        self.addresses = addresses
        self.mail = mail
    }

    public func add(to router: inout Routes) {
        router.form(Self.path, .changeAddress, from: AccountEndpoint.path, use: ask)
        router.get("\(codes.path)", .showAddressCode, isSafe: true, use: showCode)
        router.post("\(codes.path)", .checkAddressCode, use: check)
    }

    private var codes: VerificationForm {
        VerificationForm(
            pages: gate.pages, verifications: verifications, purpose: .changeEmail, wording: .changeEmail,
            path: Self.path + "/check", start: AccountEndpoint.path)
    }

    @Sendable private func showCode(_ request: Request, context: SpindleContext) async throws -> Response {
        switch try await gate.show(request) {
        case .refuse(let response): response
        case .enter(let entry): try await codes.show(request, of: entry.session.user)
        }
    }

    /// Only a reader of the new address learns whether another user has it.
    @Sendable private func ask(_ request: Request, context: SpindleContext) async throws -> Response {
        let entry: UserAccess.Entry
        switch try await gate.submit(request) {
        case .refuse(let response): return response
        case .enter(let found): entry = found
        }
        let hasPassword = try await users.hasPassword(entry.session.user)
        guard hasPassword || gate.isRecent(entry.session) else { return gate.confirmFirst(for: .account) }
        guard let email = EmailAddress(new: entry.form["email"]) else {
            return try await view.refuse(
                .email, .notAnAddress, nil, entry, request)
        }
        let draft = verifications.draft(
            .changeEmail, email: email.text, user: entry.session.user,
            browser: gate.pages.forms.browser(request))
        let template = MailTemplate.changeEmailCode(
            code: draft.code ?? "", minutes: Int((Verification.Purpose.changeEmail.codeLifetime ?? .zero).seconds / 60))
        let asked: Verifications.Asked
        do {
            let proof = hasPassword ? try await gate.confirm(entry, request) : nil
            asked = try await verifications.ask(
                draft, from: gate.newSessions.address(request), by: ConfirmedUser(of: entry.session, by: proof),
                post: mail.reply(template, to: email, entry.visit))
        } catch let refusal as PasswordSignIn.Refusal {
            return try await view.refuse(
                .email, refusal.whenConfirming, refusal.oauthError, entry, request)
        }
        mail.send()
        if case .wait(let wait) = asked {
            return try await view.refuse(
                .email,
                .tooManyAttempts(seconds: wait.wholeSeconds), .tooManySignIns(wait), entry, request)
        }
        return codes.ask(draft.verification.id)
    }

    @Sendable private func check(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await gate.pages.visit(request)
        guard gate.pages.forms.accepts(form, of: request) else { return gate.pages.foreignForm(request, visit) }
        guard let session = try await gate.newSessions.sessions.of(request, gate.pages.site), session.origin == .signIn
        else { return gate.signInFirst(for: .account, request) }
        let warning = try await gate.visitToWarn(session.user, request)
        do {
            let key = codes.key(form, request)
            let outcome = try await addresses.change(
                key, by: codes.attempt(key, request), session: session, at: gate.newSessions.place(request)
            ) { verification, db in
                // The mail to the old address names part of the new one, for a user who did not change it.
                guard let old = session.email else { return }
                try mail.notice(
                    .emailChanged(newAddress: Self.veiled(verification.email)), to: old,
                    isVerified: session.emailVerified, warning)(db)
            }
            mail.send()
            switch outcome {
            case .failure(let refusal): return codes.refusal(refusal, form, request, visit)
            case .success: return .sendBrowser(to: AccountEndpoint.path + "?done=email", status: .seeOther)
            }
        } catch StorageError.conflict {
            return gate.pages.message(
                .emailTaken, visit, values: ["email": form["email"] ?? ""], status: .conflict)
        }
    }

    /// `g…@example.com`: enough for a reader who knows the address.
    private static func veiled(_ address: String) -> String {
        guard let at = address.lastIndex(of: "@") else { return "…" }
        return "\(address.prefix(1))…\(address[at...])"
    }
}
