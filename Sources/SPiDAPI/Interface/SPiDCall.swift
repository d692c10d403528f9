import HTTP
import HTTPSupport
import OAuth
import SPiD
import Values

/// One call of SPiD's API, after the checks that are the same for all calls.
struct SPiDCall: Sendable {
    let request: Request
    let context: SpindleContext
    /// When the request arrived.
    let now: Timestamp
    /// The client that calls; nil without a token.
    let requestingClient: RequestingClient?
    /// The variable parts of the path, by name.
    let path: [String: String]
    /// The parameters of query and body. One without a value counts as left out.
    let parameters: [String: String]

    subscript(name: String) -> String? { parameters[name] }

    /// The client that calls, where the route takes a token.
    var caller: RequestingClient {
        get throws(OAuthError) {
            guard let requestingClient else { throw .noToken }
            return requestingClient
        }
    }

    /// The parameter `name`, or 400.
    func require(_ name: String) throws(SPiDRefusal) -> String {
        guard let text = parameters[name] else { throw SPiDRefusal(.badRequest, "Required parameter \(name) missing") }
        return text
    }
}
