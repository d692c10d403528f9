import Administration
public import HTTP
public import HTTPSupport
import JSON
import Logging
import OAuth

extension Problem {
    static func notFound(_ what: String) -> Problem {
        Problem(status: .notFound, detail: "There is no such \(what), or you may not see it.")
    }
}

/// Turns every refusal below `/admin/v1` into a problem document that names the faulty member or parameter.
public enum ProblemBoundary {
    public static let prefix = "/admin/v1"
    public static let dialect = RefusalDialect(below: prefix) { Problem(status: $0, detail: $1).response }

    @Sendable public static func response(to error: any Error, _ context: SpindleContext) -> Response? {
        switch error {
        case let problem as Problem:
            context.logger.info(
                "refused", metadata: ["status": "\(problem.status.code)", "member": "\(problem.place?.name ?? "-")"])
            return problem.response
        case let refusal as AdministrationRefusal:
            let status: Status = refusal.isConflict ? .conflict : .forbidden
            context.logger.info(
                "refused", metadata: ["status": "\(status.code)", "member": "\(refusal.member ?? "-")"])
            return Problem(status: status, detail: refusal.detail, member: refusal.member).response
        case is PreconditionFailed:
            context.logger.info("refused", metadata: ["status": "412", "member": "-"])
            return Problem(
                status: .preconditionFailed,
                detail: "The document has changed since it had the ETag of If-Match: read it again."
            ).response
        case let fault as JSONFault:
            context.logger.info("refused", metadata: ["status": "400", "member": "\(fault.member)"])
            let name = fault.member.isEmpty ? "The body" : "'\(fault.member)'"
            return Problem(
                status: .badRequest, detail: "\(name) must be \(fault.expected).",
                member: fault.member.isEmpty ? nil : fault.member
            ).response
        case let refusal as OAuthError:
            refusal.log(to: context.logger)
            var response = Problem(status: refusal.status, detail: refusal.hint).response
            refusal.decorate(&response.headers)
            return response
        default: return nil
        }
    }
}
