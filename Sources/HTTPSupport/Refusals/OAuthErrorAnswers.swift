public import Authentication
import Cryptography
package import HTTP
package import JSON
public import OAuth
package import Pages
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
    package func response(triedHeader: Bool = false) -> Response {
        var response = Response.json(
            .members(["error": .string(code.rawValue), "error_description": .string(hint)]), status: status)
        decorate(&response.headers, triedHeader: triedHeader)
        return response.because(of: self)
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

extension OAuthError {
    /// The refusal of a token in SPiD's format, with the status and the challenge of RFC 6750 §3.1.
    package func spidTokenResponse() -> Response {
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
        return response.because(of: self)
    }

    /// Whether a token is refused only because it has expired.
    package var isOfExpiredToken: Bool { code == .invalidToken && reason == "expired_token" }
}

extension OAuthError {
    /// The refusal in SPiD's newer format, which its apps read at `/passwordless` and `/oauth/ro`. They look for the
    /// name of the faulty parameter in the description.
    package func nestedResponse(triedHeader: Bool) -> Response {
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
        return response.because(of: self)
    }
}

extension PasswordSignIn.Refusal {
    /// The same refusal as an error of the token endpoint.
    public var oauthError: OAuthError {
        switch self {
        case .wrong(let reason, let user): .wrongUserCredentials(reason).of(user)
        case .throttled(let wait, let bucket, let user): .tooManySignIns(wait, bucket: bucket).of(user)
        case .overloaded: .signInsOverloaded
        }
    }

    /// The same refusal as a page shows it.
    package var onPage: PageRefusal {
        switch self {
        case .wrong: .wrongCredentials
        case .throttled(let wait, _, _): .tooManyAttempts(seconds: wait.wholeSeconds)
        case .overloaded: .overloaded
        }
    }
}

extension Duration {
    /// Whole seconds, rounded up, and at least one: how long a user is asked to wait.
    package var wholeSeconds: Int { Int(max(1, (milliseconds + 999) / 1000)) }
}
