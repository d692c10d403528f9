public import Authentication
import Cryptography
public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Pages
import SPiD
import Values

/// `signup`: a backend creates a user who signed up in its app. A link is mailed to the address.
public struct SignUpResource: SPiDResource {
    private let signUp: AppSignUp
    private let agreements: Agreements
    private let merchants: MerchantNumbers
    private let pages: PageRenderer
    private let mail: MailComposer
    private let address: ClientAddress

    public init(
        signUp: AppSignUp, agreements: Agreements, merchants: MerchantNumbers, pages: PageRenderer, mail: MailComposer,
        address: ClientAddress
    ) {
        self.signUp = signUp
        self.merchants = merchants
        self.agreements = agreements
        self.pages = pages
        self.mail = mail
        self.address = address
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .post, "signup", name: "Signup", controller: "User.user_signup", token: .client, isForApps: true,
                required: ["email"],
                optional: ["password", "redirectUri", "acceptTerms"] + NewUser.parameters, isStrict: true, answer: make)
        ]
    }

    @Sendable private func make(_ call: SPiDCall) async throws -> SPiDAnswer {
        let caller = try call.caller
        // A client that signs users up sees their passwords.
        try caller.requireFirstParty()
        guard
            let way = AppReturn.way(
                to: call["redirectUri"], of: caller.contextClient, pages,
                lasting: Verification.Purpose.confirmAddress.linkLifetime ?? Interaction.lifetime)
        else {
            throw SPiDRefusal(
                .badRequest,
                "redirectUri must be a registered redirect URI of the client, or its own authorization URL with one",
                reason: "unregistered_redirect_uri")
        }
        guard let email = EmailAddress(new: call["email"]) else {
            throw SPiDRefusal(
                .badRequest, fields: .members(["email": "This is not an e-mail address."]), reason: "malformed_email")
        }
        let user = try NewUser(call.parameters, email: email)
        let visit = try await pages.visit(call.request, client: caller.contextClient, uiLocales: user.locale)
        let sender = AppSignUp.Sender(caller.client, from: address.of(call.request))
        if let wait = try await signUp.charge(sender) {
            throw SPiDRefusal.tooMany("sign-ups", wait: wait, reason: "too_many_sign_ups")
        }
        guard try await !signUp.isTaken(user.email) else { throw SPiDRefusal.addressTaken }
        let password = try user.password(not: visit.frame.brand?.name)
        let prepared: AppSignUp.Prepared
        do {
            prepared = try await signUp.prepare(
                by: sender, email: user.email, password: password, profile: user.profile,
                continueTo: way.address.path)
        } catch is HashingPoolFull {
            try await signUp.refund(sender)
            throw SPiDRefusal(.serviceUnavailable, "Too many passwords wait to be hashed", reason: "hashing_full")
        }
        // As with SPiD, the app showed the terms before it sent the form.
        let terms =
            call["acceptTerms"].map { ["0", "false"].contains($0) } ?? false
            ? []
            : agreements.terms(
                for: caller.contextClient)
        let post = mail.post(message(prepared), to: user.email.text, visit)
        let outcome = try await signUp.finish(
            prepared, at: caller.contextClient.id, agreed: Agreements.note(of: terms), by: caller
        ) { db in
            try way.store(db)
            try post(db)
        }
        guard outcome == .made else { throw SPiDRefusal.addressTaken }
        mail.send()
        let match = ConnectedUsers.Match(newcomer: prepared.user)
        let merchant = try await merchants.number(of: caller.contextClient.merchant)
        let object = UserObject(match: match, now: prepared.user.createdAt)
        return .element(
            "User", object.full(clients: [UsedClient(caller.contextClient)], merchant: merchant), status: .created)
    }

    private func message(_ prepared: AppSignUp.Prepared) -> MailTemplate {
        let verification = prepared.draft.verification
        let (link, lifetime) = (prepared.draft.link?.value ?? "", verification.purpose.linkLifetime ?? .zero)
        guard verification.purpose == .confirmAddress else {
            return .choosePassword(
                link: mail.link(PagePath.newPassword(link)), hours: Int(lifetime.seconds / 3600))
        }
        return .confirmAddress(link: mail.link(PagePath.confirmAddress(link)), days: Int(lifetime.seconds / 86400))
    }
}

extension SPiDRefusal {
    /// SPiD's status for a user who exists already; there is no redirect.
    fileprivate static let addressTaken = SPiDRefusal(
        .found, fields: .members(["exists": "A user with this address exists already."]),
        reason: "address_taken")
}
