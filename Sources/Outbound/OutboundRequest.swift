/// A request to another server.
enum OutboundRequest: Sendable {
    /// `authorization`, the value of that header, may be a secret.
    case get(accept: String, authorization: String? = nil)
    /// `signature` is the value of the header by which the receiver authenticates us.
    case post([UInt8], contentType: String, signature: String? = nil)
    /// A form and the value of the `Authorization` header. Both may contain secrets.
    case form([UInt8], authorization: String?)

    var method: String {
        switch self {
        case .get: "GET"
        case .post, .form: "POST"
        }
    }

    var fields: [(name: String, value: String)] {
        var fields = [(name: "user-agent", value: "spindle")]
        switch self {
        case .get(let accept, let authorization):
            fields.append(("accept", accept))
            if let authorization { fields.append(("authorization", authorization)) }
        case .post(_, let contentType, let signature):
            fields.append(("content-type", contentType))
            if let signature { fields.append(("spindle-signature", signature)) }
        case .form(_, let authorization):
            fields.append(("content-type", "application/x-www-form-urlencoded"))
            fields.append(("accept", "application/json"))
            if let authorization { fields.append(("authorization", authorization)) }
        }
        return fields
    }

    var body: [UInt8] {
        switch self {
        case .get: []
        case .post(let body, _, _), .form(let body, _): body
        }
    }
}
