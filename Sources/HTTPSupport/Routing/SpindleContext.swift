public import Audit
package import Directory
package import HTTP
package import Logging
package import OAuth
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
    /// Its lines say which request they are about, and whom it concerns, as far as that is known by now.
    package var logger: Logger {
        var logger = log.logger(of: request)
        // The template, never the path: a path can contain a code.
        logger[metadataKey: "route"] = .string("\(request.method.rawValue) \(route.template.text)")
        logger[metadataKey: "address"] = .string(log.address.forLog(request))
        let whom = request.whom
        logger[metadataKey: "client"] = .string(whom.client.map { "\($0)" } ?? "-")
        logger[metadataKey: "user"] = .string(whom.user.map { "\($0)" } ?? "-")
        return logger
    }
}

extension SpindleContext: RequestOrigin {
    public var address: String { log.address.of(request) }
    public var requestID: String { log.id(of: request) }
}

extension SpindleContext {
    package func identifier<Entity>(_ name: String = "id") throws -> Identifier<Entity> {
        Identifier(try parameters.require(name))
    }
}

/// Notes whom a request concerns, where that is found out: the log says it of a refusal.
extension Request {
    package func note(_ client: Client.ID) { note { $0.client = client } }
    package func note(_ user: UserID) { note { $0.user = user } }

    /// A live token: its client and its user.
    package func note(_ token: AccessToken) {
        note { whom in
            whom.client = token.client
            if let user = token.user { whom.user = user }
        }
    }
}
