import HTTP
import HTTPSupport
import JSON
import Logging
import OAuth

/// Error responses for SPiD-compatible clients: the error names that SPiD's SDKs look for.
enum SPiDDialect {
    static func response(to refusal: OAuthError, logger: Logger) -> Response {
        refusal.log(to: logger)
        var response = response(name(of: refusal), status(of: refusal), refusal.hint)
        refusal.decorate(&response.headers)
        // A challenge goes with 401 only (RFC 9110 §11.6.1).
        response.headers[.wwwAuthenticate] = nil
        return response
    }

    /// The refusal of a client that did not authenticate, or does not exist. It has the status, name and challenge of
    /// RFC 6749 §5.2, and also SPiD's members, because an SDK of SPiD may have a wrong id. Every refused client gets
    /// them, so that the answer does not reveal whether it exists.
    static func response(toUnprovenClient refusal: OAuthError, triedHeader: Bool, logger: Logger) -> Response {
        refusal.log(to: logger)
        var response = response(refusal.code.rawValue, refusal.status, refusal.hint)
        refusal.decorate(&response.headers, triedHeader: triedHeader)
        return response
    }

    private static func response(_ name: String, _ status: Status, _ hint: String) -> Response {
        .json(
            .members([
                "error": .string(name), "error_code": .string("\(status.code) \(status.reasonPhrase)"),
                "type": "OAuthException", "error_description": .string(hint),
            ]), status: status)
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
