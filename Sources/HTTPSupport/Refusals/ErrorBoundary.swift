import Cryptography
package import HTTP
import JSON
import Logging
import OAuth
import Storage

/// Turns every error into a response with a body, and logs it once. Programs get JSON, users a page.
struct ErrorBoundary: Sendable {
    private let pages: PageRenderer
    private let dialects: [RefusalDialect]

    init(pages: PageRenderer, dialects: [RefusalDialect]) {
        self.pages = pages
        self.dialects = dialects
    }

    func response(to error: any Error, of request: Request, _ context: SpindleContext) -> Response {
        var logger = context.logger
        // The template, never the path: a path can contain a code.
        logger[metadataKey: "route"] = .string("\(request.method.rawValue) \(context.route.template.text)")
        guard !(error is InteractionGone) else { return pages.gone(request, logger) }
        let answer = answer(to: error, of: request, logger)
        return request.isReadByUser ? pages.fault(answer, of: request) : answer
    }

    private func answer(to error: any Error, of request: Request, _ logger: Logger) -> Response {
        switch error {
        case let refusal as OAuthError:
            return refusal.response(logger: logger, triedHeader: request.headers[.authorization] != nil)
        case let error as HTTPRefusal where error.status == .notFound:
            return refusal(of: request, .notFound, "not_found", error.hint ?? "There is no such endpoint.")
        case let error as HTTPRefusal:
            logger.info("refused", metadata: ["status": "\(error.status.code)"])
            var response = refusal(
                of: request, error.status, "invalid_request", error.hint ?? error.status.reasonPhrase)
            response.headers.append(contentsOf: error.headers)
            return response
        case StorageError.unavailable(let reason):
            logger.error("storage unavailable", metadata: ["reason": "\(reason)"])
            return tryLater(request)
        case StorageError.tooMany(let kind):
            logger.notice("too many are waiting", metadata: ["kind": "\(kind)"])
            return tryLater(request)
        case StorageError.unopened(let reason):
            // A server that is restarted with the right key may answer.
            logger.error("a stored secret does not open", metadata: ["reason": "\(reason)"])
            return tryLater(request)
        case StorageError.constraint(let reason), StorageError.conflict(let reason):
            // A concurrent request has just deleted or made a row that this one depends on. A retry tells which.
            logger.notice("overtaken by another request", metadata: ["reason": "\(reason)"])
            return tryLater(request)
        case StorageError.rejected(let reason):
            return unchecked(request, reason, logger)
        case StorageError.holdsNUL:
            return unchecked(request, "a text contains U+0000", logger)
        case is CancellationError, is HashingPoolFull:
            return tryLater(request)
        default:
            logger.error("unexpected error", metadata: ["error": "\(String(reflecting: error))"])
            return refusal(
                of: request, .internalServerError, "server_error", "Something went wrong here; it was logged.")
        }
    }

    private func tryLater(_ request: Request) -> Response {
        var response = refusal(of: request, .serviceUnavailable, "temporarily_unavailable", "Try again in a moment.")
        response.headers[.retryAfter] = "1"
        return response
    }

    /// A retry would not help: a check is missing where the value came in.
    private func unchecked(_ request: Request, _ reason: String, _ logger: Logger) -> Response {
        logger.error(
            "bug: the schema refused an unchecked value; please report it", metadata: ["reason": "\(reason)"])
        return refusal(of: request, .badRequest, "invalid_request", "A value in the request cannot be stored.")
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
