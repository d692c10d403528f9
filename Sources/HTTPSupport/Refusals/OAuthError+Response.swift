package import HTTP
package import JSON
package import Logging
import OAuth
import Values

extension OAuthError {
    /// The status of the response. No other code chooses it.
    package var status: Status {
        switch code {
        case .invalidClient, .invalidToken: .unauthorized
        case .insufficientScope, .accessDenied: .forbidden
        case .notFound: .notFound
        case .requestTooLarge: .contentTooLarge
        case .tooManyRequests: .tooManyRequests
        case .temporarilyUnavailable: .serviceUnavailable
        case .serverError: .internalServerError
        case .invalidRequest, .invalidGrant, .unauthorizedClient, .unsupportedGrantType, .unsupportedResponseType,
            .invalidScope, .invalidRedirectURI, .invalidClientMetadata, .unapprovedSoftwareStatement, .loginRequired,
            .consentRequired, .interactionRequired,
            .unmetAuthenticationRequirements, .requestNotSupported, .requestURINotSupported,
            .registrationNotSupported, .invalidRequestObject, .invalidRequestURI, .invalidTarget:
            .badRequest
        }
    }

    /// The response to the client (RFC 6749 §5.2): flat strings. The reason goes to the log, never to the client.
    /// `triedHeader`: the request had an Authorization header, valid or not.
    package func response(logger: Logger, triedHeader: Bool = false) -> Response {
        log(to: logger)
        var response = Response.json(
            .members(["error": .string(code.rawValue), "error_description": .string(hint)]), status: status)
        decorate(&response.headers, triedHeader: triedHeader)
        return response
    }

    /// Adds the headers for every body format: the challenge (RFC 6750 §3, RFC 7617) and `Retry-After`.
    package func decorate(_ headers: inout Fields, triedHeader: Bool = false) {
        if let retryAfter {
            headers[.retryAfter] = String(max(1, (retryAfter.milliseconds + 999) / 1000))
        }
        switch code {
        // RFC 6749 §5.2: only if the client tried Basic. Otherwise a browser would ask its user for a password.
        case .invalidClient where triedHeader: headers[.wwwAuthenticate] = "Basic realm=\"spindle\""
        // RFC 6750 §3.1: a request without a token gets the bare challenge.
        case .invalidToken where reason == OAuthError.noToken.reason:
            headers[.wwwAuthenticate] = "Bearer realm=\"spindle\""
        case .invalidToken, .insufficientScope:
            headers[.wwwAuthenticate] =
                "Bearer realm=\"spindle\", error=\"\(code.rawValue)\", error_description=\"\(hint)\""
        default: break
        }
    }

    package func log(to logger: Logger) {
        var metadata: Logger.Metadata = ["error": "\(code.rawValue)", "reason": "\(reason)"]
        if let detail { metadata["detail"] = "\(detail)" }
        logger.info("refused", metadata: metadata)
    }
}

extension Response {
    /// A JSON response that no cache keeps.
    package static func json(_ json: JSON, status: Status = .ok) -> Response {
        self.json(bytes: json.bytes, status: status)
    }

    /// JSON that is written already.
    package static func json(bytes: [UInt8], status: Status = .ok) -> Response {
        Response(status: status, headers: jsonHeaders, body: .bytes(bytes))
    }

    /// RFC 6749 §5.1 requires both: an HTTP/1.0 cache only knows Pragma.
    private static let jsonHeaders: Fields = [
        .contentType: "application/json", .cacheControl: "no-store", .pragma: "no-cache",
    ]
}
