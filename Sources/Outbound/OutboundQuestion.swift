import AsyncHTTPClient
import NIOHTTP1

/// What is asked of another server.
enum OutboundQuestion: Sendable {
    /// What `Authorization` says with it may be a secret.
    case get(accept: String, authorization: String? = nil)
    case post([UInt8], contentType: String)
    /// A form, and what `Authorization` says with it. Both may hold secrets.
    case form([UInt8], authorization: String?)

    func put(into request: inout HTTPClientRequest) {
        request.headers = ["user-agent": "spindle"]
        switch self {
        case .get(let accept, let authorization):
            request.headers.add(name: "accept", value: accept)
            if let authorization { request.headers.add(name: "authorization", value: authorization) }
        case .post(let body, let contentType):
            request.method = .POST
            request.headers.add(name: "content-type", value: contentType)
            request.body = .bytes(body)
        case .form(let body, let authorization):
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
            request.headers.add(name: "accept", value: "application/json")
            if let authorization { request.headers.add(name: "authorization", value: authorization) }
            request.body = .bytes(body)
        }
    }
}
