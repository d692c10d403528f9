public import HTTP
import JOSE
import Logging
import OAuth
import Storage

/// What administration refuses, beyond what the domain does.
struct Problem: Error {
    let status: Status
    let detail: String
    /// The member of the request that is at fault.
    var member: String?

    static func notFound(_ what: String) -> Problem {
        Problem(status: .notFound, detail: "There is no such \(what), or it is not yours to see.")
    }
    static func forbidden(_ detail: String, member: String? = nil) -> Problem {
        Problem(status: .forbidden, detail: detail, member: member)
    }

    /// RFC 9457.
    var response: Response {
        var response = Response.json(
            .members([
                "type": "about:blank",
                "title": .string(status.reasonPhrase),
                "status": .integer(Int64(status.code)),
                "detail": .string(detail),
                "member": member.map { .string($0) },
            ]), status: status)
        response.headers[.contentType] = "application/problem+json"
        return response
    }
}

/// Answers every refusal below `/admin/v1` as a problem document that names the member at fault.
public enum ProblemBoundary {
    @Sendable public static func response(to error: any Error, _ context: SpindleContext) -> Response? {
        switch error {
        case let problem as Problem:
            context.logger.info(
                "refused", metadata: ["status": "\(problem.status.code)", "member": "\(problem.member ?? "-")"])
            return problem.response
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
