package import HTTP
import JSON
package import Logging
package import OAuth

extension OAuthError {
    /// The refusal of a token in SPiD's format, with the status and the challenge of RFC 6750 §3.1.
    package func spidTokenResponse(logger: Logger) -> Response {
        log(to: logger)
        // SDKs refresh only a token that has expired.
        let name = isOfExpiredToken ? "expired_token" : code.rawValue
        let told = reason == OAuthError.noToken.reason ? "no token passed" : name
        var response = Response.json(
            .members([
                "error": .string(name), "error_code": 401, "type": "OAuthException",
                // SPiD's exact text. What to fix is in WWW-Authenticate and the log.
                "error_description": .string(
                    "401 Unauthorized access! Reason: \"\(told)\" (OAuth realm: \"Service\", Scope: \"\")"),
            ]), status: .unauthorized)
        decorate(&response.headers)
        return response
    }

    /// Whether a token is refused only because it has expired.
    package var isOfExpiredToken: Bool { code == .invalidToken && reason == "expired_token" }
}
