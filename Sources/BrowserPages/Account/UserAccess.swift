public import Authentication
import Directory
import HTTP
public import HTTPSupport
import JSON
import OAuth
import Pages
import Text
public import Values

/// Gives users access to their own account: after a sign-in here, and with their own forms only.
public struct UserAccess: Sendable {
    let pages: PageRenderer
    let newSessions: NewSessions
    private let signIn: PasswordSignIn
    private let users: Users
    private let clock: any WallClock

    public init(
        pages: PageRenderer, newSessions: NewSessions, signIn: PasswordSignIn, users: Users, clock: any WallClock
    ) {
        self.pages = pages
        self.newSessions = newSessions
        self.signIn = signIn
        self.users = users
        self.clock = clock
    }

    /// A user who was let in.
    struct Entry {
        let session: Session
        /// The user as read when they were let in.
        let user: User
        let visit: PageContext
        let form: Form
    }

    enum Decision {
        case enter(Entry)
        /// The response to anyone else.
        case refuse(Response)
    }

    /// The user of a request that shows a page.
    /// - Parameter inWebViews: whether a web view that a SPiD-compatible app opened may show it too.
    func show(_ request: Request, inWebViews: Bool = false) async throws -> Decision {
        guard let session = try await session(request, inWebViews), let user = try await users.find(session.user) else {
            return .refuse(signInFirst(for: OwnPage(rawValue: request.target.path) ?? .account, request))
        }
        let query = Form.query(of: request.target.text)
        return .enter(Entry(session: session, user: user, visit: try await visit(request, of: user), form: query))
    }

    /// The page in the language that the user chose for their account, unless the URL asks for another.
    private func visit(_ request: Request, of user: User) async throws -> PageContext {
        let asked = Form.query(of: request.target.text)["ui_locales"]
        return try await pages.visit(request, uiLocales: asked ?? user.profile["locale"]?.string)
    }

    /// For mails that warn `user`: this browser may be another user's, with another language.
    func visitToWarn(_ user: UserID, _ request: Request) async throws -> PageContext {
        let locale = try await users.find(user)?.profile["locale"]?.string
        return try await pages.visit(request, uiLocales: locale ?? "")
    }

    /// The user of a form. A user who signed out meanwhile signs in first, and then sees the account as it is.
    func submit(_ request: Request, inWebViews: Bool = false) async throws -> Decision {
        let form = try Form.read(request)
        // Checked first: a form from another site comes without the session, and its user gets a page that says so.
        guard pages.forms.accepts(form, of: request) else {
            return .refuse(pages.foreignForm(request, try await pages.visit(request)))
        }
        guard let session = try await session(request, inWebViews), let user = try await users.find(session.user) else {
            return .refuse(signInFirst(for: .account, request))
        }
        let visit = try await visit(request, of: user)
        switch pages.forms.judge(form, of: request, by: session.user) {
        case .accepted: return .enter(Entry(session: session, user: user, visit: visit, form: form))
        case .foreign: return .refuse(pages.foreignForm(request, visit))
        case .anotherUsers:
            return .refuse(
                pages.message(.anotherUser, visit, values: ["continueTo": "/account"], status: .conflict))
        }
    }

    /// A session bought with an app's token proves who holds the phone, not who uses this browser. In web views of
    /// SPiD's apps it may show the account page, but only the profile.
    private func session(_ request: Request, _ inWebViews: Bool) async throws -> Session? {
        guard let session = try await newSessions.sessions.of(request, pages.site) else { return nil }
        switch session.origin {
        case .signIn: return session
        case .bought: return inWebViews && session.showsAccount ? session : nil
        case .asserted: return nil
        }
    }

    /// Asks for a sign-in that continues to `page`. The account page and its phone page offer a way back to the
    /// application that `request` names.
    func signInFirst(for page: OwnPage, _ request: Request) -> Response {
        let back = AccountReturn.pages.contains(page) ? AccountReturn(request)?.on(page).path : nil
        return .sendBrowser(to: "/login?continue=\(PercentEncoding.encode(back ?? page.rawValue))", status: .seeOther)
    }

    /// Whether the user signed in recently.
    func isRecent(_ session: Session) -> Bool { session.isRecent(at: clock.now) }

    /// Asks the user to confirm who they are, and then continues to `page`.
    func confirmFirst(for page: OwnPage) -> Response {
        .sendBrowser(to: "/login?confirm=1&continue=\(PercentEncoding.encode(page.rawValue))", status: .seeOther)
    }

    /// Runs `work`, whose transaction charges the user for taking access away.
    func waiting(
        _ entry: Entry, _ work: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await work()
        } catch PasswordSignIn.Refusal.throttled(let wait, _, _) {
            return askToWait(wait, entry)
        }
    }

    /// A page that says how long to wait.
    func askToWait(_ wait: Duration, _ entry: Entry) -> Response {
        pages.message(.tooManyAttempts, entry.visit, status: .tooManyRequests).asking(toWait: wait)
            .because(of: PasswordSignIn.Refusal.throttled(wait).oauthError)
    }

    /// The proof that the user of `entry` knows their password, from the form. Throws `PasswordSignIn.Refusal`.
    func confirm(_ entry: Entry, _ request: Request) async throws -> PasswordSignIn.Proof {
        try await signIn.confirm(
            entry.session, password: entry.form["current_password"] ?? "",
            address: newSessions.address(request), device: newSessions.device(request))
    }
}
