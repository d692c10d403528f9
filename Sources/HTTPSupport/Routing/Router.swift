public import Audit
import Directory
public import HTTP
import Logging
import OAuth
import Values

/// Finds the route of a request and surrounds its endpoint with what all endpoints share.
public final class Router: RequestHandler {
    private let table: RouteTable
    private let errors: ErrorBoundary
    private let crossOrigin: CrossOrigin
    private let hosts: SessionHosts
    private let log: RequestLog
    private let clients: Clients
    private let audit: AuditLog
    public let commonFields: Fields

    public init(
        _ routes: Routes, pages: PageRenderer, dialects: [RefusalDialect], crossOrigin: CrossOrigin,
        hosts: SessionHosts, audit: AuditLog
    ) {
        self.audit = audit
        table = RouteTable(routes.all + crossOrigin.preflights(for: routes.all))
        errors = ErrorBoundary(pages: pages, dialects: dialects)
        commonFields = SecurityHeaders.fields(of: pages.site)
        self.crossOrigin = crossOrigin
        self.hosts = hosts
        log = pages.log
        clients = pages.clients
    }

    public func admit(_ head: Request) -> Admission {
        Admission(route: table.find(head.method, head.target.path), bodyLimit: Form.limit)
    }

    public func refuse(_ request: UnreadRequest) -> Fields { [.xRequestID: log.refuse(request)] }

    /// The response, after the log has its line if it is a refusal: no endpoint writes one.
    public func respond(to received: Request) async -> Response {
        let isReadable = received.isReadable
        var request = isReadable ? received : received.withoutUnreadableFields
        request.serial = log.next()
        let context = SpindleContext(request, route: table.routes[request.route], log: log)
        var response = await answer(request, context, isReadable: isReadable)
        if let line = RefusalLine(of: response) {
            // The database may be what is missing.
            if !context.route.isForOperators, response.status != .serviceUnavailable { await noteClient(of: request) }
            line.write(to: context.logger, status: response.status)
        }
        if let held = request.heldMail {
            context.logger.info("mail held back", metadata: ["reason": "\(held.reason)", "kind": "\(held.kind)"])
            let whom = request.whom
            audit.note(
                .init(
                    "mail.held_back", on: whom.user.map { Party(.user, "\($0)") }, client: whom.client.map { "\($0)" },
                    reason: held.reason, detail: held.kind, address: context.address))
        }
        response.headers[.xRequestID] = log.told(to: request)
        return response
    }

    private func answer(_ request: Request, _ context: SpindleContext, isReadable: Bool) async -> Response {
        let route = context.route
        if !route.isOfSessionService, !hosts.isAtOwnHost(request), let refusal = await hosts.refusal(of: request) {
            return refusal
        }
        var response: Response
        do {
            guard isReadable else { throw OAuthError.tooManyMarks }
            response = try await CurrentRequest.$origin.withValue(context) {
                try await route.answer(request, context)
            }
        } catch {
            response =
                route.refusal?(error, context)?.because(of: error)
                ?? errors.response(to: error, of: request, context)
        }
        if route.readers != .none { await crossOrigin.permit(&response, to: request, context) }
        return response
    }
}

extension Router {
    /// Notes the client that a refused request names, if none was found: in its credentials, its form or its query.
    private func noteClient(of request: Request) async {
        guard request.whom.client == nil else { return }
        let form = (try? Form.read(request, orJSON: true)) ?? Form(pairs: [])
        let named =
            ClientCredentials.named(request, form)
            ?? Form.query(of: request.target.text)[Parameter.clientID.rawValue].map { Client.ID($0) }
        guard let named, await clients.isKnown(named) else { return }
        request.note(named)
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
