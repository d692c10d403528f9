import HTTP
import HTTPSupport
import Logging
import OAuth
import SPiD

extension OAuthError {
    /// The refusal in the format of SPiD's API: without the container if it is about a token, otherwise in it.
    func spidResponse(in container: SPiDContainer, logger: Logger) -> Response {
        guard code == .invalidToken || code == .insufficientScope else {
            log(to: logger)
            var response = container.response(SPiDRefusal(status, hint, reason: reason))
            // A wrong secret gets RFC 7617's challenge; this refusal only follows an Authorization header.
            decorate(&response.headers, triedHeader: true)
            return response
        }
        return spidTokenResponse(logger: logger)
    }
}
