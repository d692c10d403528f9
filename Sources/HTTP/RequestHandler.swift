/// What a server serves: an HTTP server asks it twice for each request.
public protocol RequestHandler: Sendable {
    /// Which of the handler's routes a head is for, and how large a body it may bring. It runs on the event loop and must
    /// not block; `head.body` is empty.
    func admit(_ head: Request) -> Admission

    /// The answer. It runs as a task on the connection's loop. A body that was refused or cut short is in the request as
    /// a fault, so that the refusal has the form of the endpoint.
    func respond(to request: Request) async -> Response
}

/// What a handler says to the head of a request.
public struct Admission: Sendable {
    /// Handed back in `Request.route`.
    public let route: Int
    /// The largest body in bytes.
    public let bodyLimit: Int

    public init(route: Int, bodyLimit: Int) {
        self.route = route
        self.bodyLimit = bodyLimit
    }
}
