public import Authentication
import Directory
import HTTP
public import HTTPSupport
import Pages
import Text
public import Values

/// Lets people to their own account: those who signed in here, and no form that was another's.
public struct UserAccess: Sendable {
    let pages: PageRenderer
    let arrivals: NewSessions
    private let signIn: SignIn
    private let clock: any WallClock

    public init(pages: PageRenderer, arrivals: NewSessions, signIn: SignIn, clock: any WallClock) {
        self.pages = pages
        self.arrivals = arrivals
        self.signIn = signIn
        self.clock = clock
    }

    /// Somebody at their own account.
    struct Entry {
        let session: Session
        let visit: PageContext
        let form: Form
    }

    enum Decision {
        case enter(Entry)
        /// The answer to who may not.
        case refuse(Response)
    }

    /// The person of a request that shows something.
    func show(_ request: Request) async throws -> Decision {
        guard let session = try await session(request) else {
            return .refuse(signInFirst(for: OwnPage(rawValue: request.target.path) ?? .account))
        }
        let query = Form.query(of: request.target.text)
        return .enter(Entry(session: session, visit: try await pages.visit(request), form: query))
    }

    /// The person of a form. Whoever signed out meanwhile signs in first; then the account is shown as it is.
    func submit(_ request: Request) async throws -> Decision {
        let form = try Form.read(request)
        let visit = try await pages.visit(request)
        // Asked first: with a form from another site the browser sends no session, and its person is told what it was.
        guard pages.forms.accepts(form, of: request) else { return .refuse(pages.foreignForm(visit)) }
        guard let session = try await session(request) else { return .refuse(signInFirst(for: .account)) }
        switch pages.forms.judge(form, of: request, by: session.user) {
        case .accepted: return .enter(Entry(session: session, visit: visit, form: form))
        case .foreign: return .refuse(pages.foreignForm(visit))
        case .anotherPersons:
            return .refuse(
                pages.message(.anotherPerson, visit, values: ["continueTo": "/account"], status: .conflict))
        }
    }

    /// A session that an app's token bought shows that somebody holds a phone, not who sits here.
    private func session(_ request: Request) async throws -> Session? {
        try await arrivals.sessions.of(request, pages.site).flatMap { $0.origin == .signIn ? $0 : nil }
    }

    func signInFirst(for page: OwnPage) -> Response {
        .sendBrowser(to: "/login?continue=\(PercentEncoding.encode(page.rawValue))", status: .seeOther)
    }

    /// Whether the person signed in a moment ago.
    func isRecent(_ session: Session) -> Bool { session.isRecent(at: clock.now) }

    /// Sends the person to confirm that it is them, and then on to `page`.
    func confirmFirst(for page: OwnPage) -> Response {
        .sendBrowser(to: "/login?confirm=1&continue=\(PercentEncoding.encode(page.rawValue))", status: .seeOther)
    }

    /// The proof that the person of `entry` knows the account's password, by what the form says. Throws
    /// `SignIn.Refusal`.
    func confirm(_ entry: Entry, _ request: Request, _ context: SpindleContext) async throws -> SignIn.Proof {
        try await signIn.confirm(
            entry.session, password: entry.form["current_password"] ?? "",
            address: arrivals.address(request), device: arrivals.device(request))
    }
}
