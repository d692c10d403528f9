import Authentication
import Cryptography
import Directory
import HTTP
import HTTPSupport
import JSON
import OAuth
import Pages

/// Changes the password.
extension AccountEndpoint {
    @Sendable func changePassword(_ request: Request, context: SpindleContext) async throws -> Response {
        try await submit(request) { entry in
            // Without an address, the password could neither be used nor reset. The page shows no form then.
            guard entry.session.email != nil else {
                return .sendBrowser(to: Self.path, status: .seeOther)
            }
            let hasPassword = try await users.hasPassword(entry.session.user)
            guard hasPassword || gate.isRecent(entry.session) else { return gate.confirmFirst(for: .confirmed) }
            do {
                let password = try newPassword(entry)
                let proof = hasPassword ? try await gate.confirm(entry, request, context) : nil
                let warning = try await gate.visitToWarn(entry.session.user, request)
                let post = entry.session.email.map { email in
                    mail.notice(
                        .passwordChanged(resetLink: mail.link(PasswordEndpoint.path)), to: email,
                        isVerified: entry.session.emailVerified, warning)
                }
                // A copy of the session's cookie may come with a copy of the device's.
                let device = gate.newSessions.anotherDevice()
                let place = KnownDevices.Place(address: gate.newSessions.address(request), device: device.secret)
                let renewed = gate.newSessions.anotherSecret(for: entry.session)
                let isChanged = try await users.changePassword(
                    of: entry.session, to: password, by: proof, at: place, renewing: renewed.secret
                ) { db in try post?(db) }
                guard isChanged else { throw PasswordSignIn.Refusal.wrong(reason: "password_changed_meanwhile") }
                mail.send()
                return done("password", request, cookies: [renewed.cookie, device.cookie])
            } catch let refusal as PasswordSignIn.Refusal {
                return try await view.refuse(
                    .password, refusal.whenConfirming, refusal.oauthError, entry, request, context)
            } catch let fault as Authentication.PasswordFault {
                return try await view.refuse(.password, .weakPassword(fault.onPage), nil, entry, request, context)
            } catch is HashingPoolFull {
                return try await view.refuse(.password, .overloaded, .signInsOverloaded, entry, request, context)
            }
        }
    }

    private func newPassword(_ entry: UserAccess.Entry) throws -> Password {
        try Password(
            entry.form["new_password"] ?? "",
            personal: entry.user.wordsAboutThem + [entry.visit.frame.brand?.name ?? ""])
    }
}

extension PasswordSignIn.Refusal {
    /// The refusal to show when the address is known and only the password was asked for.
    var whenConfirming: PageRefusal {
        if case .wrong = self { .wrongPassword } else { onPage }
    }
}

extension User {
    /// Terms that their password must not equal.
    var wordsAboutThem: [String] {
        ["name", "given_name", "family_name"].compactMap { profile[$0]?.string } + [email].compactMap(\.self)
    }
}
