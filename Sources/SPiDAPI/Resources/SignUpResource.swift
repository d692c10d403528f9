public import Authentication
import Cryptography
import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Pages
import SPiD
import Values

/// `signup`: a backend makes an account for somebody who signed up in its app. The address gets a link.
public struct SignUpResource: SPiDResource {
    private let signUp: AppSignUp
    private let agreements: Agreements
    private let pages: PageRenderer
    private let mail: MailComposer

    public init(signUp: AppSignUp, agreements: Agreements, pages: PageRenderer, mail: MailComposer) {
        self.signUp = signUp
        self.agreements = agreements
        self.pages = pages
        self.mail = mail
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .post, "signup", name: "Signup", controller: "User.user_signup", caller: .client, required: ["email"],
                optional: ["password", "redirectUri", "acceptTerms"] + NewUser.parameters, answer: make)
        ]
    }

    @Sendable private func make(_ call: SPiDCall) async throws -> SPiDAnswer {
        let asking = try call.asking
        // Who signs people up has their passwords.
        try call.requireFirstParty()
        guard
            let address = try await AppReturn.address(
                of: call["redirectUri"], for: asking.client, pages,
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
        let visit = try await pages.visit(call.request, client: asking.client, uiLocales: user.locale)
        if let wait = try await signUp.charge(asking.caller.id) {
            throw SPiDRefusal(
                .tooManyRequests, "Too many sign-ups: wait \(wait.wholeSeconds) seconds", reason: "too_many_sign_ups")
        }
        guard try await !signUp.isTaken(user.email) else { throw SPiDRefusal.addressTaken }
        let password = try user.password(not: visit.frame.brand?.name)
        let prepared: AppSignUp.Prepared
        do {
            prepared = try await signUp.prepare(
                email: user.email, password: password, profile: user.profile, continueTo: address.path)
        } catch is HashingPoolFull {
            throw SPiDRefusal(.serviceUnavailable, "Too many passwords wait to be hashed", reason: "hashing_full")
        }
        let terms =
            call["acceptTerms"].map { ["0", "false"].contains($0) } ?? false
            ? []
            : agreements.terms(
                for: asking.client)
        let outcome = try await signUp.finish(
            prepared,
            also: { id, now, db in
                try asking.confirm(db)
                try TokenFamilies.connect(id, to: asking.client.id, at: now, in: db)
                // As SPiD has it: the app showed the terms before it sent the form.
                try Agreements.accept(terms, by: id, at: now, in: db)
            }, post: mail.post(letter(prepared), to: user.email.text, visit.frame))
        guard outcome == .made else { throw SPiDRefusal.addressTaken }
        mail.send()
        let person = ConnectedUsers.Match(newcomer: prepared.user)
        return .element(
            "User", UserObject(person: person, now: prepared.user.createdAt).full(clients: [asking.client]),
            status: .created)
    }

    private func letter(_ prepared: AppSignUp.Prepared) -> MailTemplate {
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
    /// SPiD's status for an account that is there already; it leads nowhere.
    fileprivate static let addressTaken = SPiDRefusal(
        .found, fields: .members(["exists": "There is an account of this address already."]),
        reason: "address_taken")
}
