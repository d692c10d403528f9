package import Directory
package import HTTP
import OAuth
import Synchronization

/// A group of routes: turns bytes into values, calls one domain function, renders the result. It contains no rules.
public protocol Endpoint: Sendable {
    func add(to router: inout Routes)
}

/// A part of the server that answers requests. Each surface has some; `Server/Composition.swift` lists them all.
public protocol Feature: Sendable {
    /// Its endpoints, in the order of their routes.
    var endpoints: [any Endpoint] { get }
}

/// One method of one path, and its handler.
package final class Route: Sendable, CustomStringConvertible {
    package typealias Answer = @Sendable (Request, SpindleContext) async throws -> Response

    package let method: HTTP.Method
    let template: PathTemplate
    /// Whether it is a GET that changes nothing here (RFC 9110 §9.2.1). HEAD is then answered too, as GET without the
    /// body (§9.3.2). A GET that spends a code, ends a session or stores a request must not run when a program only
    /// checks whether the URL exists.
    let isSafe: Bool
    let readers: PageReaders
    /// Whether only its exact spelling leads to it: a proxy that keeps administration internal compares how a path
    /// begins.
    let isForOperators: Bool
    /// Whether hosts of clients' sites serve it too.
    let isOfSessionService: Bool
    package let operation: Operation
    /// Makes the response to an error; nil leaves it to the error boundary.
    package let refusal: Routes.Refusal?
    package let answer: Answer

    init(
        _ method: HTTP.Method, _ template: PathTemplate, _ operation: Operation = .undescribed, isSafe: Bool = false,
        readers: PageReaders, refusal: Routes.Refusal?, answer: @escaping Answer
    ) {
        self.method = method
        self.operation = operation
        self.template = template
        self.isSafe = isSafe
        self.readers = readers
        isOfSessionService = SessionHosts.serve(template.text)
        isForOperators = template.text.hasPrefix("/admin/") || template.text == "/metrics"
        self.refusal = refusal
        self.answer = answer
    }

    /// Whether it answers `method`.
    func answers(_ method: HTTP.Method) -> Bool { self.method == method || (isSafe && method == .head) }

    /// The methods that it answers.
    var methods: [HTTP.Method] { isSafe ? [method, .head] : [method] }

    /// For example `POST /login`.
    package var description: String { "\(method.rawValue) \(template.text)" }
}

/// The client that a request claims to come from, for code that surrounds its endpoint. It need not be authenticated.
package final class PresumedClient: Sendable {
    private let found = Mutex<Client.ID?>(nil)

    package var id: Client.ID? { found.withLock { $0 } }
    package func note(_ client: Client.ID?) { found.withLock { $0 = client } }
}
