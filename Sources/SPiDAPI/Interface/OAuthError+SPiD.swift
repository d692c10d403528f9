import HTTP
import HTTPSupport
import Logging
import OAuth
import SPiD

extension OAuthError {
    /// The refusal as SPiD's API writes it: about a token without the container, about anything else in it.
    func spidResponse(in container: SPiDContainer, logger: Logger) -> Response {
        guard code == .invalidToken || code == .insufficientScope else {
            log(to: logger)
            var response = container.response(SPiDRefusal(status, hint, reason: reason))
            // Without a right secret it is RFC 7617's challenge: nobody is refused so who sent no Authorization header.
            decorate(&response.headers, triedHeader: true)
            return response
        }
        return spidTokenResponse(logger: logger)
    }
}
