/// Serves requests: an HTTP server calls it twice for each one.
public protocol RequestHandler: AnyObject, Sendable {
    /// The handler's route for a head, and the largest body it may have. Runs on the event loop and must not block;
    /// `head.body` is empty.
    func admit(_ head: Request) -> Admission

    /// The response. Runs as a task on the connection's loop. A refused or incomplete body is in the request as a
    /// fault, so that the endpoint chooses the form of the error.
    func respond(to request: Request) async -> Response

    /// Fields that the server adds to every response without a field of the same name. They do not change, are well
    /// formed, and are none that the server writes itself.
    var commonFields: Fields { get }
}

/// A handler's decision on the head of a request.
public struct Admission: Sendable {
    /// Copied to `Request.route`.
    public let route: Int
    /// The largest body in bytes.
    public let bodyLimit: Int

    public init(route: Int, bodyLimit: Int) {
        self.route = route
        self.bodyLimit = bodyLimit
    }
}
