public import Authentication
import Directory
import HTTP
public import HTTPSupport
import OAuth
import Pages
public import Values

/// `GET` and `POST /account/delete`: a user asks for deletion.
public struct DeletionEndpoint: Endpoint {
    static let path = "/account/delete"
    private let gate: UserAccess
    private let users: Users
    private let deletion: UserDeletion
    private let mail: MailComposer
    private let clock: any WallClock

    public init(
        gate: UserAccess, users: Users, deletion: UserDeletion, mail: MailComposer, clock: any WallClock
    ) {
        self.gate = gate
        self.users = users
        self.deletion = deletion
        self.mail = mail
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        router.get("/account/delete", .showDeletion, isSafe: true, use: ask)
        router.post("/account/delete", .askForDeletion, use: delete)
    }

    @Sendable private func ask(_ request: Request, context: SpindleContext) async throws -> Response {
        switch try await gate.show(request) {
        case .refuse(let response): return response
        case .enter(let entry):
            let hasPassword = try await users.hasPassword(entry.session.user)
            guard hasPassword || gate.isRecent(entry.session) else { return gate.confirmFirst(for: .deletion) }
            return page(entry, request, asksPassword: hasPassword)
        }
    }

    private func page(
        _ entry: UserAccess.Entry, _ request: Request, asksPassword: Bool, refusal: PageRefusal? = nil,
        status: Status = .ok
    ) -> Response {
        let issued = gate.pages.forms.issue(request, to: entry.session.user)
        let page = DeleteAccountPage(
            action: Self.path, formToken: issued.token, email: entry.session.displayName,
            graceDays: Int(deletion.grace.seconds / Duration.days(1).seconds), asksPassword: asksPassword,
            refusal: refusal)
        return gate.pages.page(
            gate.pages.templates.deleteAccount(page, in: entry.visit.frame), entry.visit, status: status,
            cookies: [issued.setCookie], refusal: refusal)
    }

    @Sendable private func delete(_ request: Request, context: SpindleContext) async throws -> Response {
        let entry: UserAccess.Entry
        switch try await gate.submit(request) {
        case .refuse(let response): return response
        case .enter(let found): entry = found
        }
        let hasPassword = try await users.hasPassword(entry.session.user)
        guard hasPassword || gate.isRecent(entry.session) else { return gate.confirmFirst(for: .deletion) }
        do {
            let proof = hasPassword ? try await gate.confirm(entry, request) : nil
            let post = try await notice(to: entry, request)
            let outcome = try await deletion.request(by: entry.session, proof: proof) { db in try post?(db) }
            mail.send()
            return try answer(outcome, entry)
        } catch let refusal as PasswordSignIn.Refusal {
            let error = refusal.oauthError
            var response = page(
                entry, request, asksPassword: hasPassword, refusal: refusal.whenConfirming, status: error.status)
            error.decorate(&response.headers)
            return response.because(of: error)
        }
    }

    /// The mail that says until when the user can cancel.
    private func notice(to entry: UserAccess.Entry, _ request: Request) async throws -> Users.Post? {
        let warning = try await gate.visitToWarn(entry.session.user, request)
        return entry.session.email.map { email in
            mail.notice(
                .deletionScheduled(
                    dueAt: deletion.dueAt(askedAt: clock.now).dayText, signInLink: mail.link("/login")),
                to: email, isVerified: entry.session.emailVerified, warning)
        }
    }

    private func answer(_ outcome: UserDeletion.Outcome, _ entry: UserAccess.Entry) throws -> Response {
        let cleared = [gate.pages.site.clearedSessionCookie]
        return switch outcome {
        case .scheduled(let dueAt):
            gate.pages.message(
                .accountDeletionScheduled, entry.visit, values: ["dueAt": dueAt.dayText], status: .ok,
                cookies: cleared)
        case .deleted: gate.pages.message(.accountDeleted, entry.visit, status: .ok, cookies: cleared)
        case .overtaken: throw PasswordSignIn.Refusal.wrong(reason: "password_changed_meanwhile")
        }
    }
}
