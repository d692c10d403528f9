public import Authentication
public import Directory
public import Federation
import HTTP
public import HTTPSupport
import JSON
import OAuth
import Pages
import SPiD
public import Values

/// `POST /api/2/signup_jwt`, `/api/2/user/attach_jwt`: users of Facebook or Google sign up or are linked. The app sends
/// the provider's access token in a JWT that it signed.
public struct ProviderResource: SPiDResource {
    private let users: ProviderUsers
    private let finder: UserFinder
    private let pages: PageRenderer
    private let mail: MailComposer
    private let clock: any WallClock

    public init(
        users: ProviderUsers, connectedUsers: ConnectedUsers, connections: Connections, merchants: MerchantNumbers,
        pages: PageRenderer, mail: MailComposer, clock: any WallClock
    ) {
        self.users = users
        self.pages = pages
        self.mail = mail
        self.finder = UserFinder(connectedUsers: connectedUsers, connections: connections, merchants: merchants)
        self.clock = clock
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .post, "signup_jwt", name: "Signup JWT", controller: "User.user_signup_jwt", token: .client,
                isForApps: true, required: ["jwt"], answer: signUp),
            attaching("user/attach_jwt"), attaching("attach_jwt"),
        ]
    }

    private func attaching(_ path: String) -> SPiDRoute {
        SPiDRoute(
            .post, path, name: "Attach JWT", controller: "User.user_attach_jwt", token: .user, required: ["jwt"],
            answer: attach)
    }

    @Sendable private func signUp(_ call: SPiDCall) async throws -> SPiDAnswer {
        let caller = try call.caller
        try caller.requireFirstParty()
        let made = try await users.register(
            try call.require("jwt"), from: caller.client, connectedTo: caller.contextClient.id, by: caller)
        guard let made else {
            // SPiD's status for a user who exists already; there is no redirect.
            throw SPiDRefusal(
                .found, fields: .members(["exists": "A user with this provider account or address exists already."]),
                reason: "provider_user_exists")
        }
        let found = try await finder.find(made, for: caller)
        let object = UserObject(match: found.match, now: clock.now)
        let clients = try await finder.usedClients(of: made, for: caller)
        return .element("User", object.full(clients: clients, merchant: found.merchant))
    }

    @Sendable private func attach(_ call: SPiDCall) async throws -> SPiDAnswer {
        let caller = try call.caller
        let user = try caller.user
        guard caller.client.may(.writeUsers) else {
            throw SPiDRefusal(
                .forbidden,
                "Client is not authorized to access this API endpoint: it is not set to SPiD compatibility.",
                reason: "not_spid_compatible")
        }
        // The link is a way to sign in that outlives every token and password, so a front-channel token does not
        // suffice.
        try caller.requireFirstParty()
        guard !caller.token.isOfFrontChannel else {
            throw SPiDRefusal(
                .forbidden,
                "A token of the implicit grant cannot link an account: send one that a code was "
                    + "redeemed for.",
                reason: "front_channel_token")
        }
        let found = try await finder.find(user, for: caller)
        let owner = found.match.user
        let visit = try await pages.visit(
            call.request, client: caller.contextClient, uiLocales: owner.profile["locale"]?.string)
        let jwt = try call.require("jwt")
        let attachment: ProviderUsers.Attachment
        do {
            attachment = try await users.attach(jwt, from: caller.client, to: user, by: caller) { provider in
                guard let email = owner.email else { return { _ in } }
                let message = MailTemplate.signInLinked(provider: provider.name, link: mail.link(PagePath.account))
                return mail.notice(message, to: email, isVerified: owner.emailVerified, visit)
            }
        } catch PasswordSignIn.Refusal.throttled(let wait, _, _) {
            throw SPiDRefusal.tooMany("accounts attached to this user", wait: wait, reason: "too_many_attached")
        }
        switch attachment {
        case .attached: break
        case .ofAnother:
            throw SPiDRefusal(
                .conflict, "The provider's account is attached to another user.", reason: "provider_user_of_another")
        case .hasAnother:
            throw SPiDRefusal(
                .conflict, "The user has another account of this provider, and can remove it on the account page.",
                reason: "provider_user_has_another")
        case .removed:
            throw SPiDRefusal(
                .conflict, "The user has removed this provider, and can connect it on the account page.",
                reason: "provider_removed_by_user")
        }
        mail.send()
        return .element(
            "User", UserObject(match: found.match, now: clock.now, signedInAt: caller.token.signedInAt).short())
    }
}
