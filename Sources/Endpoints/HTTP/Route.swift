import HTTP

/// One method of one path, and what answers it.
final class Route: Sendable, CustomStringConvertible {
    typealias Answer = @Sendable (Request, SpindleContext) async throws -> Response

    let method: HTTP.Method
    let template: PathTemplate
    /// Whether pages of other origins may be told the answer.
    let isCrossOrigin: Bool
    /// What an error is answered with; nil leaves it to the error boundary.
    let refusal: Routes.Refusal?
    let answer: Answer

    init(_ method: HTTP.Method, _ template: PathTemplate, refusal: Routes.Refusal?, answer: @escaping Answer) {
        self.method = method
        self.template = template
        isCrossOrigin = CrossOrigin.covers(template.text)
        self.refusal = refusal
        self.answer = answer
    }

    /// As `POST /login`.
    var description: String { "\(method.rawValue) \(template.text)" }
}
