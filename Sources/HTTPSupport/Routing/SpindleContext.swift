import Audit
import HTTP
package import Logging
package import Values

/// The context of a request: its route, its id in the log, and its client.
public struct SpindleContext: Sendable {
    package let route: Route
    /// Receives the client of the request; nil when that is not needed.
    package let presumedClient: PresumedClient?
    private let request: Request
    private let log: RequestLog

    init(_ request: Request, route: Route, log: RequestLog) {
        self.route = route
        self.log = log
        self.request = request
        presumedClient = route.readers == .pagesOfClient && request.headers.contains(.origin) ? PresumedClient() : nil
    }

    package var parameters: PathParameters { PathParameters(path: request.target.path, template: route.template) }
    package var logger: Logger { log.logger(of: request) }

    /// Where events of this request say that it came from.
    var origin: RequestOrigin {
        RequestOrigin(address: { log.address(of: request) }, requestID: { log.id(of: request) })
    }
}

extension SpindleContext {
    package func identifier<Entity>(_ name: String = "id") throws -> Identifier<Entity> {
        Identifier(try parameters.require(name))
    }
}
