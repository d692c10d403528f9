public import Directory
package import HTTP
import OAuth
import Text

/// Which web pages of other origins may make the calls of a route and read the responses. Never with credentials: no
/// cookie counts at any of these routes.
package enum PageReaders: Sendable {
    case none
    /// For public data, and for calls that only count with a token that the page itself has.
    case everyPage
    /// The pages of origins that the client of the call has registered.
    case pagesOfClient
}

/// Lets web pages read the responses to their calls (Fetch §3.2), as the route allows, and answers the preflight
/// requests before them. It surrounds all endpoints, so that pages can read errors too.
public struct CrossOrigin: Sendable {
    private let clients: Clients
    private let origins: KnownOrigins

    public init(clients: Clients, origins: KnownOrigins) {
        self.clients = clients
        self.origins = origins
    }

    /// The routes of the preflight requests for `routes`.
    func preflights(for routes: [Route]) -> [Route] {
        let paths = Dictionary(grouping: routes.filter { $0.readers != .none }, by: \.template.text)
        return paths.sorted { $0.key < $1.key }.map { path, routes in
            let methods = routes.flatMap(\.methods).map(\.rawValue).joined(separator: ", ")
            let readers = routes[0].readers
            precondition(routes.allSatisfy { $0.readers == readers }, "\(path) has two kinds of readers")
            return Route(.options, routes[0].template, readers: .none, refusal: nil) { request, _ in
                try await preflight(request, methods, readers)
            }
        }
    }

    /// A preflight names no client: it succeeds if any client has the origin. The call itself is checked against its
    /// own client.
    private func preflight(_ request: Request, _ methods: String, _ readers: PageReaders) async throws -> Response {
        var headers: Fields = [:]
        if readers == .everyPage {
            headers[.accessControlAllowOrigin] = "*"
        } else {
            headers[.vary] = "Origin"
            guard let origin = request.headers[.origin], try await origins.contains(origin) else {
                return Response(status: .noContent, headers: headers)
            }
            headers[.accessControlAllowOrigin] = origin
        }
        headers[.accessControlAllowMethods] = methods
        headers[.accessControlAllowHeaders] = Self.fields(askedBy: request)
        headers[.accessControlMaxAge] = "3600"
        return Response(status: .noContent, headers: headers)
    }

    /// The names of the fields that the page wants to send, whatever its libraries add: `*` would exclude
    /// `Authorization` (Fetch §4.8). Fields by which proxies identify clients are left out.
    private static func fields(askedBy request: Request) -> String? {
        let names = request.headers[values: .accessControlRequestHeaders]
            .flatMap { $0.split(separator: ",") }
            .map { $0.trimming { $0 == " " || $0 == "\t" }.lowercased() }
            .filter { FieldName($0) != nil && !isOfProxies($0) }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    private static func isOfProxies(_ name: String) -> Bool {
        ["forwarded", "x-real-ip"].contains(name) || name.hasPrefix("x-forwarded-")
    }

    /// Sets the headers that let the calling page read the response, whether a success or an error.
    package func permit(_ response: inout Response, to request: Request, _ context: SpindleContext) async {
        switch context.route.readers {
        case .none: return
        case .everyPage: response.headers[.accessControlAllowOrigin] = "*"
        case .pagesOfClient:
            response.headers[.vary] = "Origin"
            // If the client cannot be read now, the response is still sent.
            guard let origin = request.headers[.origin], let id = context.presumedClient?.id,
                let client = try? await clients.findLive(id), client.webOrigins.contains(origin)
            else { return }
            response.headers[.accessControlAllowOrigin] = origin
        }
        response.headers[.accessControlExposeHeaders] = "WWW-Authenticate, Retry-After"
    }
}
