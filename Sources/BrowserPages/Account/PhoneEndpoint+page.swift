import Authentication
import Directory
import HTTP
import HTTPSupport
import Pages
import Values

/// The page itself.
extension PhoneEndpoint {
    /// Any other value of `?done=` shows nothing, so no link can put text on the page.
    private static let notices: [String: PhonesPage.Notice] = ["added": .added, "removed": .removed]

    /// `GET`: for a user who signed in here. SPiD's apps open it too, with a way back, in web views that show only the
    /// account page.
    @Sendable func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let elsewhere = Response.sendBrowser(
            to: AccountReturn(request)?.path ?? AccountEndpoint.path, status: .seeOther)
        switch try await gate.show(request, inWebViews: true) {
        case .refuse(let response): return texts != nil ? response : elsewhere
        case .enter(let entry):
            guard entry.session.origin == .signIn, try await isThere(for: entry.session.user) else { return elsewhere }
            let done = request.isAfterOurForm ? entry.form["done"] : nil
            return try await page(entry, request, notice: done.flatMap { Self.notices[$0] }, status: .ok)
        }
    }

    /// `GET`: SPiD's second address of the page.
    @Sendable func showFromSPiD(_ request: Request, context: SpindleContext) async throws -> Response {
        .sendBrowser(to: AccountReturn(request)?.on(.phones).path ?? Self.path, status: .seeOther)
    }

    /// Without text messages, the page is only there to remove a number.
    private func isThere(for user: UserID) async throws -> Bool {
        guard texts == nil else { return true }
        return try await users.find(user)?.verifiedPhone != nil
    }

    func page(
        _ entry: UserAccess.Entry, _ request: Request, notice: PhonesPage.Notice? = nil, refusal: PageRefusal? = nil,
        status: Status
    ) async throws -> Response {
        guard let user = try await users.find(entry.session.user) else { throw HTTPRefusal(.notFound) }
        let issued = gate.pages.forms.issue(request, to: user.id)
        let back = AccountReturn(request)
        let page = PhonesPage(
            action: Self.path, formToken: issued.token, phone: user.verifiedPhone?.text,
            account: AccountEndpoint.path,
            back: try await gate.pages.wayBack(back).map { .init(name: $0.name, address: $0.address) },
            returnQuery: back.map { "?\($0.query)" } ?? "",
            adding: texts == nil ? .unavailable : user.emailVerified ? .possible : .unverified,
            typed: entry.form["phone_number"] ?? "", notice: notice, refusal: refusal)
        return gate.pages.page(
            gate.pages.templates.phones(page, in: entry.visit.frame), entry.visit, status: status,
            cookies: [issued.setCookie])
    }
}
