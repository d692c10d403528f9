import Authentication
import Directory
import HTTP
import HTTPSupport
import JSON
import OAuth
import Pages
import SPiD
import Values

/// `user/{id}/trigger/…`: a backend sends a user a mail that the user could have asked for.
struct TriggerResource: SPiDResource {
    let finder: UserFinder
    let users: Users
    let signUp: AppSignUp
    let verifications: Verifications
    let pages: PageRenderer
    let mail: MailComposer

    var routes: [SPiDRoute] {
        [
            route("emailverification", "Mail to verify the address", answer: verification),
            route("newpassword", "Mail for a new password") { call in
                try await send(.resetPassword, try await recipient(call), call) { link, purpose in
                    .resetPassword(link: mail.link(PagePath.newPassword(link)), hours: purpose.hours)
                }
            },
        ]
    }

    private func route(_ trigger: String, _ name: String, answer: @escaping SPiDRoute.Answer) -> SPiDRoute {
        SPiDRoute(
            .get, "user/{id}/trigger/\(trigger)", name: name, controller: "User.user_trigger_\(trigger)",
            token: .client,
            answer: answer)
    }

    @Sendable private func verification(_ call: SPiDCall) async throws -> SPiDAnswer {
        let user = try await recipient(call)
        guard !user.emailVerified else { return Self.done }
        guard try await users.hasPassword(user.id) else {
            // The reader of the mail sets the password, which verifies the address.
            return try await send(.resetPassword, user, call) { link, purpose in
                .choosePassword(link: mail.link(PagePath.newPassword(link)), hours: purpose.hours)
            }
        }
        return try await send(.confirmAddress, user, call) { link, purpose in
            .confirmAddress(link: mail.link(PagePath.confirmAddress(link)), days: purpose.hours / 24)
        }
    }

    /// The user, if the caller may write to them.
    private func recipient(_ call: SPiDCall) async throws -> User {
        let caller = try call.caller
        try caller.requireFirstParty()
        let id = try await finder.user(named: call.path["id"] ?? "", for: caller)
        let user = try await finder.findOfClient(id, for: caller).match.user
        guard user.disabledAt == nil else {
            throw SPiDRefusal(.forbidden, "The user is blocked.", reason: "user_disabled")
        }
        return user
    }

    /// Sends a mail with a link, unless the mailbox got too many. It leads to no client: see `Verification.takeover`.
    private func send(
        _ purpose: Verification.Purpose, _ user: User, _ call: SPiDCall,
        _ message: (_ link: String, Verification.Purpose) -> MailTemplate
    ) async throws -> SPiDAnswer {
        let caller = try call.caller
        guard let email = user.email.flatMap({ EmailAddress($0) }) else {
            throw SPiDRefusal(.conflict, "The user has no e-mail address.", reason: "no_email")
        }
        if let wait = try await signUp.charge(.backend(caller.client)) {
            throw SPiDRefusal.tooMany("mails", wait: wait, reason: "too_many_mails")
        }
        let visit = try await pages.visit(
            call.request, client: caller.contextClient, uiLocales: user.profile["locale"]?.string)
        let draft = verifications.draft(
            purpose, email: email.text, user: user.id, browser: nil)
        _ = try await verifications.ask(
            draft, from: nil, backend: caller.contextClient, by: caller.writing(of: user.id),
            post: mail.reply(message(draft.link?.value ?? "", purpose), to: email, visit))
        mail.send()
        return Self.done
    }

    private static let done = SPiDAnswer.element("User", .members(["success": true]), status: .created)
}

extension Verification.Purpose {
    fileprivate var hours: Int { Int((linkLifetime ?? .zero).seconds / 3600) }
}
