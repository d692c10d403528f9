import Audit
public import HTTP
import OAuth
import Values

/// Finds the route of a request and surrounds its endpoint with what all endpoints share.
public final class Router: RequestHandler {
    private let table: RouteTable
    private let errors: ErrorBoundary
    private let crossOrigin: CrossOrigin
    private let hosts: SessionHosts
    private let log: RequestLog
    public let commonFields: Fields

    public init(
        _ routes: Routes, pages: PageRenderer, dialects: [RefusalDialect], crossOrigin: CrossOrigin,
        hosts: SessionHosts
    ) {
        table = RouteTable(routes.all + crossOrigin.preflights(for: routes.all))
        errors = ErrorBoundary(pages: pages, dialects: dialects)
        commonFields = SecurityHeaders.fields(of: pages.site)
        self.crossOrigin = crossOrigin
        self.hosts = hosts
        log = pages.log
    }

    public func admit(_ head: Request) -> Admission {
        Admission(route: table.find(head.method, head.target.path), bodyLimit: Form.limit)
    }

    public func respond(to request: Request) async -> Response {
        var request = request
        request.serial = log.next()
        var response = await answer(request)
        response.headers[.xRequestID] = log.told(to: request)
        return response
    }

    private func answer(_ request: Request) async -> Response {
        guard request.isReadable else { return await refuse(unreadable: request.withoutUnreadableFields) }
        let route = table.routes[request.route]
        if !route.isOfSessionService, !hosts.isAtOwnHost(request), let refusal = await hosts.refusal(of: request) {
            return refusal
        }
        let context = SpindleContext(request, route: route, log: log)
        var response: Response
        do {
            response = try await RequestOrigin.$current.withValue(context.origin) {
                try await route.answer(request, context)
            }
        } catch {
            response = refusal(error, of: request, context)
        }
        if route.readers != .none { await crossOrigin.permit(&response, to: request, context) }
        return response
    }

    private func refuse(unreadable request: Request) async -> Response {
        let route = table.routes[request.route]
        if !route.isOfSessionService, !hosts.isAtOwnHost(request), let refusal = await hosts.refusal(of: request) {
            return refusal
        }
        let context = SpindleContext(request, route: route, log: log)
        var response = refusal(OAuthError.tooManyMarks, of: request, context)
        if route.readers != .none { await crossOrigin.permit(&response, to: request, context) }
        return response
    }

    private func refusal(_ error: any Error, of request: Request, _ context: SpindleContext) -> Response {
        context.route.refusal?(error, context) ?? errors.response(to: error, of: request, context)
    }
}

extension Request {
    fileprivate var isReadable: Bool { headers.allSatisfy { $0.value.isStreamSafe } }

    /// Without fields whose values are not safe to compare, even in a refusal. Paths and queries are ASCII before they
    /// are decoded.
    fileprivate var withoutUnreadableFields: Request {
        var request = self
        request.headers = Fields(headers.filter(\.value.isStreamSafe))
        return request
    }
}
