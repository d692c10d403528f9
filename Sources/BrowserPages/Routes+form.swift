import HTTP
import HTTPSupport

extension Routes {
    /// A form that is sent to `path`. Who only goes there, as a phone does that loads a tab again which showed such an
    /// answer, is led to `start`, where the form is.
    mutating func form(_ path: String, from start: String, use answer: @escaping Route.Answer) {
        post(path, use: answer)
        get(path) { _, _ in Response.sendBrowser(to: start, status: .seeOther) }
    }
}
