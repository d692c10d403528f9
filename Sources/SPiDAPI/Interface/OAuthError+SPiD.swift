import HTTP
import HTTPSupport
import JOSE
import Logging
import OAuth
import SPiD

extension OAuthError {
    /// As SPiD's API says it: about a token flat, about all else in the container.
    func spidResponse(in container: SPiDContainer, logger: Logger) -> Response {
        guard code == .invalidToken || code == .insufficientScope else {
            log(to: logger)
            var response = container.response(SPiDRefusal(status, hint, reason: reason))
            decorate(&response.headers)
            return response
        }
        log(to: logger)
        // SDKs refresh what has expired, and only that.
        let name = reason == "expired_token" ? "expired_token" : code.rawValue
        var response = Response.json(
            .members([
                "error": .string(name), "error_code": 401, "type": "OAuthException",
                // To the letter; what could be mended stands in WWW-Authenticate and the log.
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
