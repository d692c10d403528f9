package import HTTP
import JSON

/// A refusal as a problem document (RFC 9457): the errors that only administration has.
package struct Problem: Error {
    package let status: Status
    package let detail: String
    /// The member of the request that is wrong.
    package let member: String?

    package init(status: Status, detail: String, member: String? = nil) {
        self.status = status
        self.detail = detail
        self.member = member
    }

    package var response: Response {
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
