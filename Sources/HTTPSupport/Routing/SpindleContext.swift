import HTTP
package import Logging
package import Values

/// What belongs to one request besides the request: its route, its name in the log, and its client.
public struct SpindleContext: Sendable {
    package let route: Route
    /// Where the endpoint notes its client, if CORS is to know: for a cross-origin route and a request with `Origin`.
    package let presumedClient: PresumedClient?
    private let path: String
    private let number: UInt64
    private let log: RequestLog

    init(_ request: Request, route: Route, log: RequestLog) {
        self.route = route
        self.log = log
        path = request.target.path
        number = log.next()
        presumedClient = route.isCrossOrigin && request.headers.contains(.origin) ? PresumedClient() : nil
    }

    package var parameters: PathParameters { PathParameters(path: path, template: route.template) }
    package var id: String { log.id(number) }
    package var logger: Logger { log.logger(number) }
}

extension SpindleContext {
    package func identifier<Entity>(_ name: String = "id") throws -> Identifier<Entity> {
        Identifier(try parameters.require(name))
    }
}
