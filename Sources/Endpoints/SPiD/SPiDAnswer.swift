import HTTP
import JOSE

/// What an endpoint of SPiD's API answers, before it is in its container.
struct SPiDAnswer: Sendable {
    enum Kind: Sendable {
        case element
        /// `offset` is how many come before these.
        case collection(count: Int, offset: Int)
    }

    let status: Status
    /// SPiD's word for what it is: `User`, `Authorization`, `Utility`.
    let object: String
    let kind: Kind
    let data: JSON

    /// One thing.
    static func element(_ object: String, _ data: JSON, status: Status = .ok) -> SPiDAnswer {
        SPiDAnswer(status: status, object: object, kind: .element, data: data)
    }

    /// A list, or a part of one.
    static func collection(_ object: String, _ items: [JSON], offset: Int = 0) -> SPiDAnswer {
        SPiDAnswer(
            status: .ok, object: object, kind: .collection(count: items.count, offset: offset), data: .array(items))
    }
}

/// A refusal in SPiD's container: an HTTP status that is also the `code`, and words for a developer.
struct SPiDRefusal: Error, Sendable {
    let status: Status
    /// Text, or an object of fields and what is wrong with each.
    let description: JSON
    let reason: String

    init(_ status: Status, _ description: String, reason: String? = nil) {
        self.init(status, fields: .string(description), reason: reason)
    }

    /// `reason` is for the log.
    init(_ status: Status, fields: JSON, reason: String? = nil) {
        self.status = status
        description = fields
        self.reason = reason ?? "spid_\(status.code)"
    }
}

extension Status {
    /// SPiD's word for too many requests.
    static let allowanceUsedUp = Status(code: 420, reasonPhrase: "Request Limit Exceeded")
}
