public import Authentication
import Directory
import Federation
import HTTP
public import HTTPSupport
import Pages
import Values

/// `POST /account/restore`: a user who signed in while waiting for deletion keeps the account, or does not.
public struct RestoreEndpoint: Endpoint {
    static let path = "/account/restore"
    private let pages: PageRenderer
    private let deletion: UserDeletion
    private let verifications: Verifications
    private let newSessions: NewSessions

    public init(pages: PageRenderer, deletion: UserDeletion, verifications: Verifications, newSessions: NewSessions) {
        self.pages = pages
        self.deletion = deletion
        self.verifications = verifications
        self.newSessions = newSessions
    }

    public func add(to router: inout Routes) {
        router.form(Self.path, .restoreUser, from: AccountEndpoint.path, use: decide)
    }

    @Sendable private func decide(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        // The decision about the account counts even if the request that waited for the sign-in is over.
        let destination: Destination?
        do { destination = try await pages.destination(form["continue"], request) } catch is InteractionGone {
            destination = nil
        }
        let visit = try await pages.visit(request, to: destination)
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, visit) }
        let decision: UserDeletion.Decision = form["decision"] == "keep" ? .keep : .leave
        let id = Verification.ID(form["verification"] ?? "")
        let attempt = verifications.attempt(at: decision, on: id, in: pages.forms.cookie(of: request))
        let newSession = try await newSessions.newSession(
            request, by: .password, at: visit, isRemembered: request.asksToRemember, after: attempt)
        let answer = try await deletion.decide(
            decision, on: id, by: attempt, browser: pages.forms.browser(request), verifications: verifications,
            opening: newSession.opening,
            replacing: newSession.replaces
        ) { issuer, db in try TrustedIssuers.takesUsersToAll(TrustedIssuer.ID(issuer), in: db) }
        switch answer {
        case .failure(let refusal):
            return pages.message(.choiceGone, visit, status: refusal == .unknown ? .notFound : .gone)
                .because(of: refusal)
        case .success(.leaving(let dueAt)):
            return pages.message(.accountDeletionScheduled, visit, values: ["dueAt": dueAt.dayText], status: .ok)
        case .success(.kept):
            guard let onward = newSession.onward else {
                return .sendBrowser(
                    to: AccountEndpoint.path + "?done=restored", status: .seeOther, cookies: newSession.cookies)
            }
            return pages.message(
                .accountRestored, visit, values: ["continueTo": onward], status: .ok, cookies: newSession.cookies)
        }
    }
}
