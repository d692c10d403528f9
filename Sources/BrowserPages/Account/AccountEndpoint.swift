public import Authentication
import Cryptography
public import Directory
public import Federation
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Pages
import Storage
public import Values

/// `/account`: what users see and change about themselves. Every change is a form, and leads back to the page.
public struct AccountEndpoint: Endpoint {
    static let path = PagePath.account
    let gate: UserAccess
    let view: AccountView
    let users: Users
    private let sessions: SessionList
    private let apps: ConnectedApps
    private let links: IssuerSubjects
    let mail: MailComposer
    private let clock: any WallClock

    public init(
        gate: UserAccess, view: AccountView, users: Users, sessions: SessionList, apps: ConnectedApps,
        links: IssuerSubjects, mail: MailComposer, clock: any WallClock
    ) {
        self.gate = gate
        self.view = view
        self.users = users
        self.sessions = sessions
        self.apps = apps
        self.links = links
        self.mail = mail
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        router.get("/account", .showAccount, isSafe: true, use: show)
        router.form("/account/profile", .changeProfile, from: Self.path, use: changeProfile)
        router.form("/account/password", .changePassword, from: Self.path, use: changePassword)
        router.form("/account/sessions/end", .endOwnSession, from: Self.path, use: endSession)
        router.form("/account/sessions/end-others", .endOtherSessions, from: Self.path, use: endOtherSessions)
        router.form("/account/apps/revoke", .revokeApp, from: Self.path, use: revokeApp)
        router.form("/account/links/remove", .removeLink, from: Self.path, use: removeLink)
    }

    /// The values of `?done=` and their notices. Any other value shows nothing, so no link can put text on the page.
    private static let notices: [String: AccountPage.Notice] = [
        "profile": .profileSaved, "email": .emailChanged, "verified": .emailVerified, "password": .passwordChanged,
        "session": .sessionEnded, "sessions": .otherSessionsEnded, "app": .appRevoked, "link": .linkRemoved,
        "only-link": .linkIsOnly,
        "connected": .linkAdded,
        "confirmed": .confirmed,
        "restored": .deletionCancelled,
    ]

    func done(_ word: String, _ request: Request, cookies: [String] = []) -> Response {
        let back = AccountReturn(request).map { "&\($0.query)" } ?? ""
        return .sendBrowser(to: "\(Self.path)?done=\(word)\(back)", status: .seeOther, cookies: cookies)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        switch try await gate.show(request, inWebViews: true) {
        case .refuse(let response): return response
        case .enter(let entry):
            // A provider sends the user back from its own site.
            let word = entry.form["done"]
            let isTrue = request.isAfterOurForm || word == "connected"
            return try await view.response(entry, request, notice: isTrue ? word.flatMap { Self.notices[$0] } : nil)
        }
    }

    /// Runs `work` for a user who posts one of the page's forms.
    func submit(
        _ request: Request, inWebViews: Bool = false, _ work: (UserAccess.Entry) async throws -> Response
    ) async throws -> Response {
        switch try await gate.submit(request, inWebViews: inWebViews) {
        case .refuse(let response): response
        case .enter(let entry): try await work(entry)
        }
    }

    @Sendable private func changeProfile(_ request: Request, context: SpindleContext) async throws -> Response {
        try await submit(request, inWebViews: true) { entry in
            do {
                let changes = try ProfileChanges { entry.form[$0] }
                _ = try await users.change(entry.session.user, changes)
                return done("profile", request)
            } catch let refusal as PasswordSignIn.Refusal {
                return try await view.refuse(.profile, refusal.onPage, refusal.oauthError, entry, request)
            } catch let fault as JSONFault {
                let field = ProfileField(rawValue: fault.member) ?? .name
                let isLong = (entry.form[fault.member] ?? "").utf8.count > ProfileChanges.longest
                return try await view.refuse(
                    .profile, isLong ? .tooLong(in: field) : .unfitText(in: field), nil, entry, request
                ).because("unfit_profile", ["member": "\(fault.member)"])
            }
        }
    }

    @Sendable private func endSession(_ request: Request, context: SpindleContext) async throws -> Response {
        try await submit(request) { entry in
            try await sessions.end(Session.ID(entry.form["session"] ?? ""), of: entry.session.user)
            return done("session", request)
        }
    }

    @Sendable private func endOtherSessions(_ request: Request, context: SpindleContext) async throws -> Response {
        try await submit(request) { entry in
            let (session, now) = (entry.session, clock.now)
            // The form gives this browser a new cookie, which the holder of a copied one must not get.
            guard gate.isRecent(session) else { return gate.confirmFirst(for: .confirmed) }
            return try await gate.waiting(entry) {
                let renewed = gate.newSessions.anotherSecret(for: session)
                let isRenewed = try await sessions.endOthers(than: session, renewing: renewed.secret) { db in
                    try RevocationThrottle.chargeEnd(in: session, at: now, in: db)
                }
                return done("sessions", request, cookies: isRenewed ? [renewed.cookie] : [])
            }
        }
    }

    @Sendable private func revokeApp(_ request: Request, context: SpindleContext) async throws -> Response {
        try await submit(request) { entry in
            let (user, now) = (entry.session.user, clock.now)
            return try await gate.waiting(entry) {
                try await apps.revoke(Client.ID(entry.form["client"] ?? ""), of: user) { db in
                    try RevocationThrottle.charge(user, at: now, in: db)
                }
                return done("app", request)
            }
        }
    }

    @Sendable private func removeLink(_ request: Request, context: SpindleContext) async throws -> Response {
        try await submit(request) { entry in
            let isRemoved = try await links.remove(
                entry.form["subject"] ?? "", of: TrustedIssuer.ID(entry.form["issuer"] ?? ""),
                in: entry.session, at: clock.now)
            return done(isRemoved ? "link" : "only-link", request)
        }
    }
}

extension Request {
    /// Whether one of our forms led here, as far as the browser tells. A link from elsewhere must not show a notice.
    var isAfterOurForm: Bool { headers[.secFetchSite].map { $0 == "same-origin" } ?? true }
}

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
                let proof = hasPassword ? try await gate.confirm(entry, request) : nil
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
                    .password, refusal.whenConfirming, refusal.oauthError, entry, request)
            } catch let fault as Authentication.PasswordFault {
                return try await view.refuse(.password, .weakPassword(fault.onPage), nil, entry, request)
            } catch is HashingPoolFull {
                return try await view.refuse(.password, .overloaded, .signInsOverloaded, entry, request)
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
