public import Authentication
import Directory
import Federation
import HTTP
public import HTTPSupport
import Logging
import Pages
import Values

/// `POST /account/restore`: a user who signed in while waiting to be deleted keeps the account, or does not.
public struct RestoreEndpoint: Endpoint {
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
        router.form("/account/restore", from: AccountEndpoint.path, use: decide)
    }

    @Sendable private func decide(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await pages.visit(request, to: try await pages.destination(form["continue"], request))
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(visit) }
        let newSession = try await newSessions.newSession(request, by: .password, at: visit)
        let answer = try await deletion.decide(
            form["decision"] == "keep" ? .keep : .leave, on: Verification.ID(form["verification"] ?? ""),
            browser: pages.forms.browser(request), verifications: verifications, opening: newSession.opening,
            replacing: newSession.replaces?.id
        ) { issuer, db in try TrustedIssuers.takesPeople(TrustedIssuer.ID(issuer), in: db) }
        switch answer {
        case .failure(let refusal):
            context.logger.info("refused", metadata: ["reason": "\(refusal.reason)"])
            return pages.spentLink(refusal, visit)
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
