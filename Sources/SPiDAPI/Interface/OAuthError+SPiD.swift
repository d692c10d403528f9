import HTTP
import HTTPSupport
import JSON
import Logging
import OAuth
import SPiD

extension OAuthError {
    /// The refusal as SPiD's API writes it: about a token without the container, about anything else in it.
    func spidResponse(in container: SPiDContainer, logger: Logger) -> Response {
        guard code == .invalidToken || code == .insufficientScope else {
            log(to: logger)
            var response = container.response(SPiDRefusal(status, hint, reason: reason))
            decorate(&response.headers)
            return response
        }
        log(to: logger)
        // SDKs refresh a token that has expired, and no other.
        let name = reason == "expired_token" ? "expired_token" : code.rawValue
        var response = Response.json(
            .members([
                "error": .string(name), "error_code": 401, "type": "OAuthException",
                // SPiD's exact text. What to mend is in WWW-Authenticate and the log.
                "error_description": .string(
                    "401 Unauthorized access! Reason: \"\(spidReason(name))\" (OAuth realm: \"Service\", Scope: \"\")"),
            ]), status: .unauthorized)
        decorate(&response.headers)
        return response
    }

    private func spidReason(_ name: String) -> String {
        reason == OAuthError.noToken.reason ? "no token passed" : name
    }
}
