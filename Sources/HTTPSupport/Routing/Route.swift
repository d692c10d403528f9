package import HTTP

/// One method of one path, and its handler.
package final class Route: Sendable, CustomStringConvertible {
    package typealias Answer = @Sendable (Request, SpindleContext) async throws -> Response

    package let method: HTTP.Method
    let template: PathTemplate
    let readers: PageReaders
    /// Whether only its own spelling leads to it: a proxy that keeps administration inside compares how a path begins.
    let isForOperators: Bool
    /// Whether hosts of clients' sites serve it too.
    let isOfSessionService: Bool
    /// Makes the response to an error; nil leaves it to the error boundary.
    package let refusal: Routes.Refusal?
    package let answer: Answer

    init(
        _ method: HTTP.Method, _ template: PathTemplate, readers: PageReaders, refusal: Routes.Refusal?,
        answer: @escaping Answer
    ) {
        self.method = method
        self.template = template
        self.readers = readers
        isOfSessionService = SessionHosts.serve(template.text)
        isForOperators = template.text.hasPrefix("/admin/") || template.text == "/metrics"
        self.refusal = refusal
        self.answer = answer
    }

    /// For example `POST /login`.
    package var description: String { "\(method.rawValue) \(template.text)" }
}
