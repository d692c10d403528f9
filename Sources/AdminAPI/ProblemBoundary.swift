import Administration
public import HTTP
public import HTTPSupport
import JSON
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

    /// The log has the line of `error` (`LoggedRefusal`).
    @Sendable public static func response(to error: any Error, _ context: SpindleContext) -> Response? {
        switch error {
        case let problem as Problem: return problem.response
        case let refusal as AdministrationRefusal:
            return Problem(status: refusal.status, detail: refusal.detail, member: refusal.member).response
        case is PreconditionFailed:
            return Problem(
                status: .preconditionFailed,
                detail: "The document has changed since it had the ETag of If-Match: read it again."
            ).response
        case let fault as JSONFault:
            let name = fault.member.isEmpty ? "The body" : "'\(fault.member)'"
            return Problem(
                status: .badRequest, detail: "\(name) must be \(fault.expected).",
                member: fault.member.isEmpty ? nil : fault.member
            ).response
        case let refusal as OAuthError:
            var response = Problem(status: refusal.status, detail: refusal.hint).response
            refusal.decorate(&response.headers)
            return response
        default: return nil
        }
    }
}

extension PreconditionFailed: LoggedRefusal {
    package var refusalLine: RefusalLine { RefusalLine("precondition_failed") }
}

extension AdministrationRefusal: LoggedRefusal {
    fileprivate var status: Status { isConflict ? .conflict : .forbidden }

    package var refusalLine: RefusalLine {
        RefusalLine(
            isConflict ? "administration_conflict" : "beyond_administrator", member.map { ["member": "\($0)"] } ?? [:])
    }
}
