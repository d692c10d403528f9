public import Hummingbird
import HTTPTypes
import JOSE
import Logging
import NIOCore
import OAuth
import Storage

/// The outermost middleware: whatever was thrown below becomes an answer with a body, and is logged once. Programs are
/// answered in JSON, people with a page. Every answer of an https site asks to be visited by https alone.
public struct ErrorBoundary: RouterMiddleware {
    public typealias Context = SpindleContext
    private let pages: PageRenderer

    public init(pages: PageRenderer) { self.pages = pages }

    public func handle(
        _ request: Request, context: SpindleContext, next: (Request, SpindleContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch {
            var logger = context.logger
            // The template, never the path: a path can hold a code.
            logger[metadataKey: "route"] = "\(request.method.rawValue) \(context.endpointPath ?? "-")"
            let answer = Self.answer(to: error, of: request, logger)
            response = request.isOfAPerson ? pages.fault(answer, of: request, id: context.id) : answer
        }
        // RFC 6797 §6.1. Not its subdomains: they are not ours to speak for.
        if pages.site.isSecure { response.headers[.strictTransportSecurity] = "max-age=31536000" }
        // RFC 9110 §9.3.2: a body after HEAD would be read as the start of the next answer.
        return request.method == .head ? response.createHeadResponse() : response
    }

    private static func answer(to error: any Error, of request: Request, _ logger: Logger) -> Response {
        switch error {
        case let refusal as OAuthError:
            return refusal.response(logger: logger, triedHeader: request.headers[.authorization] != nil)
        case let error as HTTPError where error.status == .notFound:
            return refusal(of: request, .notFound, "not_found", "There is no such endpoint.")
        case let error as HTTPError:
            logger.info("refused", metadata: ["status": "\(error.status.code)"])
            var response = refusal(of: request, error.status, "invalid_request", error.status.reasonPhrase)
            response.headers.append(contentsOf: error.headers)
            return response
        case StorageError.unavailable(let reason):
            logger.error("storage unavailable", metadata: ["reason": "\(reason)"])
            return tryLater(request)
        case StorageError.constraint(let reason), StorageError.conflict(let reason):
            // What the request stands on was deleted, or made, by another at this moment; asking again tells which.
            logger.notice("overtaken by another request", metadata: ["reason": "\(reason)"])
            return tryLater(request)
        case is CancellationError:
            return tryLater(request)
        case let error as ChannelError:
            // The client went away in the middle of its request: nobody reads this.
            logger.debug("connection lost", metadata: ["reason": "\(error)"])
            return tryLater(request)
        default:
            logger.error("unexpected error", metadata: ["error": "\(String(reflecting: error))"])
            return refusal(
                of: request, .internalServerError, "server_error", "Something went wrong here; it was logged.")
        }
    }

    private static func tryLater(_ request: Request) -> Response {
        var response = refusal(of: request, .serviceUnavailable, "temporarily_unavailable", "Try again in a moment.")
        response.headers[.retryAfter] = "1"
        return response
    }

    /// Below `/admin/v1` a problem document, whether or not an endpoint of it was reached.
    private static func refusal(
        of request: Request, _ status: HTTPResponse.Status, _ code: String, _ hint: String
    ) -> Response {
        let path = request.uri.path
        if path == "/api/2" || path.hasPrefix("/api/2/"), path != "/api/2/oauth/token" {
            return SPiDContainer().response(SPiDRefusal(status, hint))
        }
        guard !path.hasPrefix("/admin/v1") else { return Problem(status: status, detail: hint).response }
        return .json(.members(["error": .string(code), "error_description": .string(hint)]), status: status)
    }
}
