import Administration
import Audit
import Authentication
import Cryptography
import Directory
import HTTP
public import HTTPSupport
import JSON
import OAuth
import Pages
import Storage
import Synchronization
import Values

/// What administrators do for a user: send a mail that the user could have asked for, and begin a deletion.
public struct UserActionsEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let reach: UserReach
    private let users: Users
    private let clients: Clients
    private let merchants: Merchants
    private let verifications: Verifications
    private let deletion: UserDeletion
    private let mail: MailComposer
    private let clock: any WallClock
    private let random: any RandomSource

    init(
        gate: AdministratorGate, reach: UserReach, users: Users, clients: Clients, merchants: Merchants,
        verifications: Verifications,
        deletion: UserDeletion, mail: MailComposer, clock: any WallClock, random: any RandomSource
    ) {
        self.gate = gate
        self.reach = reach
        self.users = users
        self.clients = clients
        self.merchants = merchants
        self.verifications = verifications
        self.deletion = deletion
        self.mail = mail
        self.clock = clock
        self.random = random
    }

    public func add(to router: inout Routes) {
        router.post("users/{id}/mails", .mailUser, use: gate.once(send))
        router.post("users/{id}/deletion", .beginDeletion, use: gate.once(begin))
        router.delete("users/{id}/deletion", .cancelDeletion, use: cancel)
    }

    @Sendable private func send(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, administrator) = try await reach.user(request, context, gate)
        guard let kind = try JSONMembers(try request.document(context)).text("kind"),
            ["reset", "verify"].contains(kind)
        else { throw JSONFault("kind", "reset or verify") }
        guard let user = try await users.find(id) else { throw Problem.notFound("user") }
        guard user.disabledAt == nil, let email = EmailAddress(reachable: user.email) else {
            throw Problem(
                status: .conflict, detail: "The user is disabled, or has no address that mail can be sent to.")
        }
        guard kind == "reset" || !user.emailVerified else {
            throw Problem(status: .conflict, detail: "The user's address is verified.")
        }
        let hasPassword = try await users.hasPassword(id)
        // The reader of the mail chooses the password, which verifies the address.
        let purpose: Verification.Purpose = kind == "reset" || !hasPassword ? .resetPassword : .confirmAddress
        let draft = verifications.draft(purpose, email: email.text, user: id, browser: nil)
        let link = draft.link?.value ?? ""
        let seconds = (purpose.linkLifetime ?? .zero).seconds
        let template: MailTemplate =
            switch purpose {
            case .confirmAddress:
                .confirmAddress(link: mail.link(PagePath.confirmAddress(link)), days: Int(seconds / 86400))
            case _ where hasPassword:
                .resetPassword(link: mail.link(PagePath.newPassword(link)), hours: Int(seconds / 3600))
            default: .choosePassword(link: mail.link(PagePath.newPassword(link)), hours: Int(seconds / 3600))
            }
        let visit = try await visit(to: user, by: administrator)
        let post = mail.reply(template, to: email, of: id, visit)
        let wasSent = Sent()
        let now = clock.now
        let trail = AuditTrail(by: administrator.actor, at: now, random: random)
        // A merchant's mails leave room for those that the user asks for elsewhere.
        let caller = try await clients.find(.init(administrator.actor.party.id))
        do {
            let asked = try await verifications.ask(
                draft, from: nil, backend: caller, by: administrator
            ) { heldBack, db in
                wasSent.note(heldBack == nil)
                try post(heldBack, db)
                guard heldBack == nil else { return }
                if !administrator.isAdministrator { try SupportThrottle.chargeMail(to: id, at: now, in: db) }
                try trail.record(
                    "mail.ordered", on: .user(id), after: .members(["kind": .string(kind)]), in: db)
            }
            mail.send()
            if case .wait(let wait) = asked { throw OAuthError.tooManyChanges(wait) }
        } catch PasswordSignIn.Refusal.throttled(let wait, _, _) {
            throw OAuthError.tooMuchSupport(wait)
        }
        guard wasSent.value else {
            throw Problem(
                status: .tooManyRequests, detail: "The user got many mails recently: unlock the user, or wait.")
        }
        return Response(status: .accepted)
    }

    /// Whether the mailbox had room, in the transaction that ran last.
    private final class Sent: Sendable {
        private let isSent = Mutex(false)
        var value: Bool { isSent.withLock { $0 } }
        func note(_ value: Bool) { isSent.withLock { $0 = value } }
    }

    /// A mail of a merchant's administrator has the merchant's name and words.
    private func visit(to user: User, by administrator: Administrator) async throws -> PageContext {
        let language = Language.preferred(uiLocales: user.profile["locale"]?.string, acceptLanguage: nil)
        var merchant: Merchant?
        if let id = administrator.actor.merchant { merchant = try await merchants.find(.init(id)) }
        return PageContext(language: language, merchant: merchant)
    }

    @Sendable private func begin(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, administrator) = try await reach.user(request, context, gate)
        guard let user = try await users.find(id) else { throw Problem.notFound("user") }
        let notice = mail.notice(
            .deletionScheduled(
                dueAt: deletion.dueAt(askedAt: clock.now).dayText, signInLink: mail.link("/login")),
            to: user.email ?? "", isVerified: user.emailVerified, try await visit(to: user, by: administrator))
        do {
            let due = try await gate.inTurn(of: administrator) {
                try administrator.permitDeletion(after: deletion.grace)
                return try await deletion.begin(id, by: administrator) { found, db in
                    if let email = user.email, found.email == email { try notice(db) }
                }
            }
            mail.send()
            guard let due else { throw Problem.notFound("user") }
            return .json(.members(["deletion_due_at": .integer(due.seconds)]))
        } catch PasswordSignIn.Refusal.throttled(let wait, _, _) {
            throw OAuthError.tooManyChanges(wait)
        }
    }

    @Sendable private func cancel(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, administrator) = try await reach.user(request, context, gate)
        let isCancelled = try await gate.inTurn(of: administrator) {
            try await deletion.cancel(id, by: administrator)
        }
        guard isCancelled else {
            throw Problem(status: .conflict, detail: "The user is not waiting for deletion, or no longer.")
        }
        return Response(status: .noContent)
    }
}
