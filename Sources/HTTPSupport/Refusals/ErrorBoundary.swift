import Cryptography
package import HTTP
import JSON
import OAuth
import Storage

/// Turns every error into a response with a body. Programs get JSON, users a page.
struct ErrorBoundary: Sendable {
    private let pages: PageRenderer
    private let dialects: [RefusalDialect]

    init(pages: PageRenderer, dialects: [RefusalDialect]) {
        self.pages = pages
        self.dialects = dialects
    }

    func response(to error: any Error, of request: Request, _ context: SpindleContext) -> Response {
        guard !(error is InteractionGone) else { return pages.gone(request) }
        let answer = answer(to: error, of: request)
        return (request.isReadByUser ? pages.fault(answer, of: request) : answer).because(of: error)
    }

    private func answer(to error: any Error, of request: Request) -> Response {
        switch error {
        case let refusal as OAuthError:
            return refusal.response(triedHeader: request.headers[.authorization] != nil)
        case let error as HTTPRefusal where error.status == .notFound:
            return refusal(of: request, .notFound, "not_found", error.hint ?? "There is no such endpoint.")
        case let error as HTTPRefusal:
            var response = refusal(
                of: request, error.status, "invalid_request", error.hint ?? error.status.reasonPhrase)
            response.headers.append(contentsOf: error.headers)
            return response
        case StorageError.unavailable, StorageError.tooMany, StorageError.unopened, StorageError.constraint,
            StorageError.conflict, is CancellationError, is HashingPoolFull:
            return tryLater(request)
        case StorageError.rejected, StorageError.holdsNUL:
            // A retry would not help: a check is missing where the value came in.
            return refusal(of: request, .badRequest, "invalid_request", "A value in the request cannot be stored.")
        default:
            return refusal(
                of: request, .internalServerError, "server_error", "Something went wrong here; it was logged.")
        }
    }

    private func tryLater(_ request: Request) -> Response {
        var response = refusal(of: request, .serviceUnavailable, "temporarily_unavailable", "Try again in a moment.")
        response.headers[.retryAfter] = "1"
        return response
    }

    /// The error response in the dialect of its path, whether or not an endpoint was reached.
    private func refusal(
        of request: Request, _ status: Status, _ code: String, _ hint: String
    ) -> Response {
        if let dialect = dialects.first(where: { $0.covers(request.target.path) }) {
            return dialect.refusal(status, hint)
        }
        return .json(.members(["error": .string(code), "error_description": .string(hint)]), status: status)
    }
}

/// A refusal with a status, and perhaps a text. The error boundary makes the response.
package struct HTTPRefusal: Error {
    package let status: Status
    package let headers: Fields
    /// A sentence for the caller's developer.
    let hint: String?

    package init(_ status: Status, headers: Fields = [:], hint: String? = nil) {
        self.status = status
        self.headers = headers
        self.hint = hint
    }
}
