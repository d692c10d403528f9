package import HTTP
package import JSON

/// A refusal in SPiD's container: an HTTP status, which is also the `code`, and a description for developers.
package struct SPiDRefusal: Error, Sendable {
    package let status: Status
    /// A text, or an object of fields with what is wrong with each.
    package let description: JSON
    package let reason: String
    /// How long to wait: `Retry-After`.
    package var retryAfter: Duration?

    package init(_ status: Status, _ description: String, reason: String? = nil) {
        self.init(status, fields: .string(description), reason: reason)
    }

    /// `reason` is for the log.
    package init(_ status: Status, fields: JSON, reason: String? = nil) {
        self.status = status
        description = fields
        self.reason = reason ?? "spid_\(status.code)"
    }
}

extension SPiDRefusal {
    package static func malformed(_ name: String, _ expected: String) -> SPiDRefusal {
        SPiDRefusal(.badRequest, "The parameter \(name) must be \(expected)", reason: "malformed_\(name)")
    }
}

extension Status {
    /// SPiD's status for too many requests.
    package static let allowanceUsedUp = Status(code: 420, reasonPhrase: "Request Limit Exceeded")
}
