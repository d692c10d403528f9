package import HTTP
import JSON
package import Logging
package import OAuth

extension OAuthError {
    /// The refusal in SPiD's newer format, which its apps read at `/passwordless` and `/oauth/ro`. They look for the
    /// name of the faulty parameter in the description.
    package func nestedResponse(logger: Logger, triedHeader: Bool) -> Response {
        log(to: logger)
        let description =
            code == .invalidClient
            ? "*client_id* is unknown, or the client must authenticate in "
                + "another way." : hint
        var response = Response.json(
            .members([
                "error": .members([
                    "code": .integer(Int64(status.code)), "type": .string(code.rawValue),
                    "description": .string(description),
                ])
            ]), status: status)
        decorate(&response.headers, triedHeader: triedHeader)
        return response
    }
}
