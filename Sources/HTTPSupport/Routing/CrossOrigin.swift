public import Directory
package import HTTP
import Logging
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
            return Route(.options, routes[0].template, readers: .none, refusal: nil) { request, context in
                try await preflight(request, methods, readers, context)
            }
        }
    }

    /// A preflight names no client: it succeeds if any client has the origin. The call itself is checked against its
    /// own client.
    private func preflight(
        _ request: Request, _ methods: String, _ readers: PageReaders, _ context: SpindleContext
    ) async throws -> Response {
        var headers: Fields = [:]
        if readers == .everyPage {
            headers[.accessControlAllowOrigin] = "*"
        } else {
            headers[.vary] = "Origin"
            guard let origin = request.headers[.origin] else { return Response(status: .noContent, headers: headers) }
            guard try await origins.contains(origin) else {
                Self.log("unregistered_origin", origin, context)
                return Response(status: .noContent, headers: headers)
            }
            headers[.accessControlAllowOrigin] = origin
        }
        headers[.accessControlAllowMethods] = methods
        headers[.accessControlAllowHeaders] = Self.fields(askedBy: request)
        headers[.accessControlMaxAge] = "3600"
        return Response(status: .noContent, headers: headers)
    }

    /// Whether a page of `origin` may read `response`: one of the client's pages, or any client's if it is a refusal,
    /// which says nothing about the client. If the client cannot be read now, the response is still sent.
    private func mayRead(_ response: Response, _ origin: String, _ id: Client.ID?) async -> Bool {
        if let id, let client = try? await clients.findLive(id), client.webOrigins.contains(origin) { return true }
        guard response.status.code >= 400 else { return false }
        return (try? await origins.contains(origin)) ?? false
    }

    /// A browser tells its page nothing about it, so the log does.
    private static func log(_ reason: String, _ origin: String, _ context: SpindleContext) {
        context.logger.info(
            "a web page may not read the response",
            metadata: ["reason": "\(reason)", "origin": "\(origin.prefix(100))", "route": "\(context.route)"])
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
            guard let origin = request.headers[.origin] else { return }
            guard await mayRead(response, origin, context.presumedClient?.id) else {
                return Self.log("origin_of_another_client", origin, context)
            }
            response.headers[.accessControlAllowOrigin] = origin
        }
        response.headers[.accessControlExposeHeaders] = "WWW-Authenticate, Retry-After, X-Request-Id"
    }
}
