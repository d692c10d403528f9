public import Hummingbird
import HTTPTypes
import JOSE
import Logging
import NIOCore
import OAuth
import Storage

/// The outermost middleware: whatever was thrown below becomes an answer with a body, and is logged once.
public struct ErrorBoundary: RouterMiddleware {
    public typealias Context = SpindleContext

    public init() {}

    public func handle(
        _ request: Request, context: SpindleContext, next: (Request, SpindleContext) async throws -> Response
    ) async throws -> Response {
        var logger = context.logger
        // The template, never the path: a path can hold a code.
        logger[metadataKey: "route"] = "\(request.method.rawValue) \(context.endpointPath ?? "-")"
        do {
            return try await next(request, context)
        } catch let refusal as OAuthError {
            return refusal.response(logger: logger)
        } catch let error as HTTPError where error.status == .notFound {
            return Response.json(
                .members(["error": "not_found", "error_description": "There is no such endpoint for this method."]),
                status: .notFound)
        } catch let error as HTTPError {
            logger.info("refused", metadata: ["status": "\(error.status.code)"])
            return Response.json(
                .members(["error": "invalid_request", "error_description": .string(error.status.reasonPhrase)]),
                status: error.status)
        } catch StorageError.unavailable(let reason) {
            logger.error("storage unavailable", metadata: ["reason": "\(reason)"])
            return Self.tryLater
        } catch is CancellationError {
            return Self.tryLater
        } catch let error as ChannelError {
            // The client went away in the middle of its request: nobody reads this.
            logger.debug("connection lost", metadata: ["reason": "\(error)"])
            return Self.tryLater
        } catch {
            logger.error("unexpected error", metadata: ["error": "\(String(reflecting: error))"])
            return Response.json(
                .members(["error": "server_error", "error_description": "Something went wrong here; it was logged."]),
                status: .internalServerError)
        }
    }

    private static var tryLater: Response {
        var response = Response.json(
            .members(["error": "temporarily_unavailable", "error_description": "Try again in a moment."]),
            status: .serviceUnavailable)
        response.headers[.retryAfter] = "1"
        return response
    }
}
