import AsyncHTTPClient
import NIOHTTP1

/// What is asked of another server.
enum OutboundQuestion: Sendable {
    case get(accept: String)
    case post([UInt8], contentType: String)

    func put(into request: inout HTTPClientRequest) {
        request.headers = ["user-agent": "spindle"]
        switch self {
        case .get(let accept): request.headers.add(name: "accept", value: accept)
        case .post(let body, let contentType):
            request.method = .POST
            request.headers.add(name: "content-type", value: contentType)
            request.body = .bytes(body)
        }
    }
}
