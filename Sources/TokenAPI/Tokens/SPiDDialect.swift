import HTTP
import HTTPSupport
import JSON
import Logging
import OAuth

/// Error responses for clients with SPiD compatibility: the error names that SPiD's SDKs look for.
enum SPiDDialect {
    static func response(to refusal: OAuthError, logger: Logger) -> Response {
        refusal.log(to: logger)
        let status = status(of: refusal)
        var response = Response.json(
            .members([
                "error": .string(name(of: refusal)), "error_code": .string("\(status.code) \(status.reasonPhrase)"),
                "type": "OAuthException", "error_description": .string(refusal.hint),
            ]), status: status)
        refusal.decorate(&response.headers)
        // A challenge goes with 401 only (RFC 9110 §11.6.1).
        response.headers[.wwwAuthenticate] = nil
        return response
    }

    /// The SDKs expect errors with status 400. `Retry-After` is the same as everywhere.
    private static func status(of refusal: OAuthError) -> Status {
        let status = refusal.status
        return status == .unauthorized || status == .forbidden ? .badRequest : status
    }

    private static func name(of refusal: OAuthError) -> String {
        switch refusal.userFault {
        case .wrongCredentials: return "invalid_user_credentials"
        case .unverified: return "unverified_user"
        case .unknown: return "unknown_user"
        case nil: return refusal.code == .invalidClient ? "invalid_client_credentials" : refusal.code.rawValue
        }
    }
}
