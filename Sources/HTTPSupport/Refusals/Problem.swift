package import HTTP
import JSON

/// A refusal as a problem document (RFC 9457): the errors that only administration has.
package struct Problem: LoggedRefusal {
    /// What of the request is wrong.
    package enum Place: Sendable {
        /// A member of the document, and the one that was probably meant.
        case member(String, meant: String? = nil)
        /// A parameter of the query, and the one that was probably meant.
        case parameter(String, meant: String? = nil)

        var meant: String? {
            switch self {
            case .member(_, let meant), .parameter(_, let meant): meant
            }
        }

        package var name: String {
            switch self {
            case .member(let name, _), .parameter(let name, _): name
            }
        }
    }

    package let status: Status
    package let detail: String
    package let place: Place?

    package init(status: Status, detail: String, at place: Place? = nil) {
        self.status = status
        self.detail = detail
        self.place = place
    }

    package init(status: Status, detail: String, member: String?) {
        self.init(status: status, detail: detail, at: member.map { .member($0) })
    }

    /// The word for what is wrong, in the log.
    var reason: String {
        switch (status, place) {
        case (.badRequest, .parameter): "malformed_query"
        case (.badRequest, .member): "malformed_member"
        case (.badRequest, nil): "malformed_document"
        case (.notFound, _): "not_found"
        case (.conflict, _): "conflict"
        case (.forbidden, _): "beyond_administrator"
        default: "refused_\(status.code)"
        }
    }

    package var response: Response {
        var members: [JSON.Member] = [
            .init("type", "about:blank"), .init("title", .string(status.reasonPhrase)),
            .init("status", .integer(Int64(status.code))), .init("detail", .string(detail)),
        ]
        switch place {
        case .member(let name, _): members.append(.init("member", .string(name)))
        case .parameter(let name, _): members.append(.init("parameter", .string(name)))
        case nil: break
        }
        if let meant = place?.meant { members.append(.init("did_you_mean", .string(meant))) }
        var response = Response.json(.object(members), status: status)
        response.headers[.contentType] = "application/problem+json"
        return response
    }

    package var refusalLine: RefusalLine {
        RefusalLine(reason, place.map { ["member": "\($0.name)"] } ?? [:])
    }
}
