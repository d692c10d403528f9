public import Directory
package import HTTP
import OAuth

/// Lets web pages read what their apps call, if their client registered their origin (Fetch §3.2). Never with
/// credentials: no cookie counts at any of these addresses.
///
/// It surrounds everything, so that refusals can be read too; and it answers the browser that asks beforehand.
public struct CrossOrigin: Endpoint {
    /// What a browser app calls, and how. What anybody may read says so itself.
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
                try await family(request, methods)
            }
        }
    }

    /// Whether browser apps call what is at `path`.
    static func covers(_ path: String) -> Bool { methods.contains { $0.key == path } }

    /// A preflight names no client: it may go on if any client has the origin. The call itself is judged by its own.
    private func family(_ request: Request, _ methods: String) async throws -> Response {
        var headers: Fields = [.vary: "Origin"]
        if let origin = request.headers[.origin], try await origins.contains(origin) {
            headers[.accessControlAllowOrigin] = origin
            headers[.accessControlAllowMethods] = methods
            headers[.accessControlAllowHeaders] = "content-type, authorization, auth0-client, dpop"
            headers[.accessControlMaxAge] = "3600"
        }
        return Response(status: .noContent, headers: headers)
    }

    /// Says in the answer to a call, good or bad, whether the page that made it may read it.
    package func permit(_ response: inout Response, to request: Request, _ context: SpindleContext) async {
        guard request.method != .options else { return }
        response.headers[.vary] = "Origin"
        // That nobody can be found out now is no reason to lose the answer.
        guard let origin = request.headers[.origin], let id = context.presumedClient?.id,
            let client = try? await clients.findLive(id), client.webOrigins.contains(origin)
        else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = "WWW-Authenticate, Retry-After"
    }
}
