import Hummingbird

extension RouterGroup<SpindleContext> {
    /// A form that is sent to `path`. Who only goes there, as a phone does that loads a tab again which showed such an
    /// answer, is led to `start`, where the form is.
    func form(
        _ path: String, from start: String,
        use handler: @Sendable @escaping (Request, SpindleContext) async throws -> Response
    ) {
        post("\(path)", use: handler)
        get("\(path)") { _, _ in Response.sendBrowser(to: start, status: .seeOther) }
    }
}
