import HTTPTypes
public import Hummingbird
public import OAuth
import Synchronization

/// Lets web pages read what their apps call, if their client registered their origin (Fetch §3.2). Never with
/// credentials: no cookie counts at any of these addresses.
///
/// It surrounds everything, so that refusals can be read too; and it answers the browser that asks beforehand.
public struct CrossOrigin: RouterMiddleware, Endpoint {
    public typealias Context = SpindleContext

    /// What a browser app calls, and how. What anybody may read says so itself.
    private static let methods = [
        "/oauth/token": "POST", "/api/2/oauth/token": "POST", "/oauth/revoke": "POST", "/oauth/userinfo": "GET, POST",
        "/userinfo": "GET, POST",
    ]

    private let clients: Clients
    private let origins: KnownOrigins

    public init(clients: Clients, origins: KnownOrigins) {
        self.clients = clients
        self.origins = origins
    }

    public func add(to router: RouterGroup<SpindleContext>) {
        for (path, methods) in Self.methods {
            router.on(RouterPath(path), method: .options) { request, _ in
                try await permission(request, methods)
            }
        }
    }

    /// A preflight names no client: it may go on if any client has the origin. The call itself is judged by its own.
    private func permission(_ request: Request, _ methods: String) async throws -> Response {
        var headers: HTTPFields = [.vary: "Origin"]
        if let origin = request.headers[.origin], try await origins.contains(origin) {
            headers[.accessControlAllowOrigin] = origin
            headers[.accessControlAllowMethods] = methods
            headers[.accessControlAllowHeaders] = "content-type, authorization, auth0-client, dpop"
            headers[.accessControlMaxAge] = "3600"
        }
        return Response(status: .noContent, headers: headers)
    }

    public func handle(
        _ request: Request, context: SpindleContext, next: (Request, SpindleContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard request.method != .options, Self.methods[request.uri.path] != nil else { return response }
        response.headers[.vary] = "Origin"
        // That nobody can be found out now is no reason to lose the answer.
        guard let origin = request.headers[.origin], let id = context.asker.client,
            let client = try? await clients.findLive(id), client.webOrigins.contains(origin)
        else { return response }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = "WWW-Authenticate, Retry-After"
        return response
    }
}

/// Which client a request turned out to come from, for what surrounds its endpoint. It need not have proven it.
final class Asker: Sendable {
    private let found = Mutex<Client.ID?>(nil)

    var client: Client.ID? { found.withLock { $0 } }
    func become(_ client: Client.ID?) { found.withLock { $0 = client } }
}
