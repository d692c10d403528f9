public import Authentication
public import Directory
public import Federation
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Pages
import Values

/// Renders the account page, also after one of its forms was refused.
public struct AccountView: Sendable {
    let pages: PageRenderer
    private let users: Users
    private let sessions: SessionList
    private let apps: ConnectedApps
    private let links: IssuerSubjects
    private let hasTexts: Bool

    public init(
        pages: PageRenderer, users: Users, sessions: SessionList, apps: ConnectedApps, links: IssuerSubjects,
        hasTexts: Bool
    ) {
        self.pages = pages
        self.users = users
        self.sessions = sessions
        self.apps = apps
        self.links = links
        self.hasTexts = hasTexts
    }

    /// A refused form, and what was typed into it.
    struct Refused {
        let form: AccountPage.Form
        let refusal: PageRefusal
        let typed: Form
    }

    func response(
        _ entry: UserAccess.Entry, _ request: Request, notice: AccountPage.Notice? = nil, refused: Refused? = nil,
        status: Status = .ok
    ) async throws -> Response {
        let user = entry.user
        let issued = pages.forms.issue(request, to: user.id)
        let isOfApp = entry.session.origin != .signIn
        let connectable = isOfApp ? [] : try await pages.issuers.connectable(to: user.id)
        let hasPassword = try await users.hasPassword(user.id)
        let back = AccountReturn(request)
        let page = AccountPage(
            account: profile(user, hasPassword: hasPassword, refused), formToken: issued.token,
            back: try await pages.wayBack(back).map { .init(name: $0.name, address: $0.address) },
            returnQuery: back.map { "?\($0.query)" } ?? "",
            isOfApp: isOfApp, hasPhones: hasTexts || user.verifiedPhone != nil,
            sessions: isOfApp ? [] : try await items(of: entry.session),
            apps: isOfApp ? [] : try await apps.list(of: user.id).map(\.item),
            links: isOfApp ? [] : try await links.list(of: user.id).map(\.item),
            connectable: connectable.map {
                ConnectableItem(issuer: $0.id.text, name: $0.app?.provider.name ?? $0.title)
            },
            newEmail: refused?.form == .email ? refused?.typed["email"] ?? "" : "", notice: notice,
            refusal: refused.map { ($0.form, $0.refusal) })
        return pages.page(
            pages.templates.account(page, in: entry.visit.frame), entry.visit, status: status,
            cookies: [issued.setCookie], formsLeaveSite: !connectable.isEmpty)
    }

    /// The user's sessions, this browser's first.
    private func items(of session: Session) async throws -> [SessionItem] {
        let all = try await sessions.items(of: session.user)
        let here = all.filter { $0.id == session.id }.map { $0.item(isCurrent: true) }
        return here + all.filter { $0.id != session.id }.map { $0.item(isCurrent: false) }
    }

    /// The stored profile, or what was typed into a refused form, so that it need not be typed twice.
    private func profile(_ user: User, hasPassword: Bool, _ refused: Refused?) -> Profile {
        func value(_ claim: String) -> String {
            if let refused, refused.form == .profile { return refused.typed[claim] ?? "" }
            return user.profile[claim]?.string ?? ""
        }
        return Profile(
            email: user.email ?? "", emailVerified: user.emailVerified, hasPassword: hasPassword,
            name: value("name"), givenName: value("given_name"), familyName: value("family_name"),
            phoneNumber: value("phone_number"), locale: value("locale"))
    }
}

extension SessionList.Item {
    fileprivate func item(isCurrent: Bool) -> SessionItem {
        SessionItem(
            id: id.text, device: UserAgent(userAgent).device, address: address, signedInAt: signedInAt.dayText,
            seenAt: seenAt.dayText, isCurrent: isCurrent, remembered: isRemembered)
    }
}

extension ConnectedApp {
    fileprivate var item: AppItem {
        AppItem(
            client: client.text, name: name, merchantName: merchantName ?? "",
            scopes: scope.tokens.map { ConsentPage.Scope(name: $0, isRequired: false) }, since: since.dayText)
    }
}

extension IssuerLink {
    fileprivate var item: LinkItem {
        LinkItem(issuer: issuer.text, subject: subject, name: name, since: since.dayText)
    }
}

extension AccountView {
    /// The page again, with what was typed into `form` and why it was refused.
    func refuse(
        _ form: AccountPage.Form, _ refusal: PageRefusal, _ error: OAuthError?, _ entry: UserAccess.Entry,
        _ request: Request
    ) async throws -> Response {
        var response = try await response(
            entry, request, refused: .init(form: form, refusal: refusal, typed: entry.form),
            status: error?.status ?? .badRequest)
        error?.decorate(&response.headers)
        return response.because(of: error ?? refusal)
    }
}
