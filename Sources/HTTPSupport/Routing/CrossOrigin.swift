public import Directory
package import HTTP
import OAuth

/// Lets web pages read the responses to their apps' calls, if their client registered their origin (Fetch §3.2). Never
/// with credentials: no cookie counts at any of these URLs.
///
/// It surrounds all endpoints, so that pages can read errors too. It also answers preflight requests.
public struct CrossOrigin: Endpoint {
    /// What a browser app calls, and how. Public resources say themselves that any page may read them.
    private static let methods: KeyValuePairs = [
        "/oauth/token": "POST", "/api/2/oauth/token": "POST", "/oauth/revoke": "POST", "/oauth/userinfo": "GET, POST",
        "/userinfo": "GET, POST",
    ]

    private let clients: Clients
    private let origins: KnownOrigins

    public init(clients: Clients, origins: KnownOrigins) {
        self.clients = clients
        self.origins = origins
    }

    public func add(to router: inout Routes) {
        for (path, methods) in Self.methods {
            router.on(path, method: .options) { request, _ in
                try await preflight(request, methods)
            }
        }
    }

    /// Whether browser apps call `path`.
    static func covers(_ path: String) -> Bool { methods.contains { $0.key == path } }

    /// A preflight names no client: it succeeds if any client has the origin. The call itself is checked for its own.
    private func preflight(_ request: Request, _ methods: String) async throws -> Response {
        var headers: Fields = [.vary: "Origin"]
        if let origin = request.headers[.origin], try await origins.contains(origin) {
            headers[.accessControlAllowOrigin] = origin
            headers[.accessControlAllowMethods] = methods
            headers[.accessControlAllowHeaders] = "content-type, authorization, auth0-client, dpop"
            headers[.accessControlMaxAge] = "3600"
        }
        return Response(status: .noContent, headers: headers)
    }

    /// Sets the headers that let the page of a call read the response, be it a success or an error.
    package func permit(_ response: inout Response, to request: Request, _ context: SpindleContext) async {
        guard request.method != .options else { return }
        response.headers[.vary] = "Origin"
        // If the client cannot be read now, the response is still sent.
        guard let origin = request.headers[.origin], let id = context.presumedClient?.id,
            let client = try? await clients.findLive(id), client.webOrigins.contains(origin)
        else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = "WWW-Authenticate, Retry-After"
    }
}
