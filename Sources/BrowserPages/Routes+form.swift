import HTTP
import HTTPSupport

extension Routes {
    /// Adds a form that is posted to `path`. A plain GET, as when a phone reloads a tab with the answer, is redirected
    /// to `start`, where the form is.
    mutating func form(_ path: String, from start: String, use answer: @escaping Route.Answer) {
        post(path, use: answer)
        get(path, isSafe: true) { _, _ in Response.sendBrowser(to: start, status: .seeOther) }
    }
}
