import Cryptography
package import HTTP
import JSON
package import Logging
package import OAuth
package import Pages
import Storage
import Values

/// An error that is told to a caller, and has a line in the log.
package protocol LoggedRefusal: Error {
    var refusalLine: RefusalLine { get }
}

/// What the log says about a refusal, besides whom it concerns (`SpindleContext.logger`). `docs/operating/reasons.md`
/// lists the reasons.
package struct RefusalLine: Sendable {
    let level: Logger.Level
    let message: String
    /// Nil where `metadata` has it as text.
    let reason: String?
    let metadata: Logger.Metadata
    /// Whether equal ones are counted, in place of a line each: errors of the server, and what needs no client to ask.
    let isCounted: Bool

    package init(
        _ reason: String?, level: Logger.Level = .info, message: String = "refused", isCounted: Bool? = nil,
        _ metadata: Logger.Metadata = [:]
    ) {
        self.level = level
        self.message = message
        self.reason = reason
        self.metadata = metadata
        self.isCounted = isCounted ?? (level >= .error)
    }

    /// The line of `response`; nil if it refuses nothing.
    init?(of response: Response) {
        if let cause = response.cause {
            self.init(of: cause)
        } else if response.status.code >= 400 {
            self = RefusalLine("unexplained")
        } else {
            return nil
        }
    }

    func write(to logger: Logger, status: Status) {
        var metadata = metadata
        metadata["status"] = "\(status.code)"
        if let reason { metadata["reason"] = "\(reason)" }
        logger.log(level: level, message, metadata: metadata, isOfServer: isCounted)
    }

    private init(of cause: any Error) {
        switch cause {
        case let refusal as any LoggedRefusal: self = refusal.refusalLine
        case let fault as JSONFault: self = RefusalLine("malformed_member", ["member": "\(fault.member)"])
        case StorageError.unavailable(let reason):
            self.init(nil, level: .error, message: "storage unavailable", ["reason": "\(reason)"])
        case StorageError.tooMany(let kind):
            self = RefusalLine("too_many_waiting", level: .notice, message: "too many are waiting", ["kind": "\(kind)"])
        case StorageError.unopened(let reason):
            // A server that is restarted with the right key may answer.
            self.init(nil, level: .error, message: "a stored secret does not open", ["reason": "\(reason)"])
        case StorageError.constraint(let reason), StorageError.conflict(let reason):
            // A concurrent request has just deleted or made a row that this one depends on. A retry tells which.
            self.init(nil, level: .notice, message: "overtaken by another request", ["reason": "\(reason)"])
        case StorageError.rejected(let reason): self = Self.unchecked(reason)
        case StorageError.holdsNUL: self = Self.unchecked("a text contains U+0000")
        case is CancellationError: self = RefusalLine("cancelled")
        case is HashingPoolFull: self = RefusalLine(OAuthError.signInsOverloaded.reason)
        default:
            self.init(
                nil, level: .error, message: "unexpected error", ["error": "\(String(reflecting: cause))"])
        }
    }

    /// A check is missing where the value came in.
    private static func unchecked(_ reason: String) -> RefusalLine {
        RefusalLine(
            nil, level: .error, message: "bug: the schema refused an unchecked value; please report it",
            ["reason": "\(reason)"])
    }
}

/// A refusal that has no error type of its own: the reason, and what else the log says.
package struct NamedRefusal: LoggedRefusal {
    package let refusalLine: RefusalLine

    package init(_ reason: String, level: Logger.Level = .info, _ metadata: Logger.Metadata = [:]) {
        refusalLine = RefusalLine(reason, level: level, metadata)
    }
}

extension Response {
    /// The same, as the answer to `cause`, in place of a cause that it may have already.
    package func because(of cause: any Error) -> Response {
        var response = self
        response.cause = cause
        return response
    }

    /// The same, as a refusal for `reason`.
    package func because(_ reason: String, _ metadata: Logger.Metadata = [:]) -> Response {
        because(of: NamedRefusal(reason, metadata))
    }
}

extension OAuthError: LoggedRefusal {
    package var refusalLine: RefusalLine {
        var metadata: Logger.Metadata = ["error": "\(code.rawValue)"]
        if let detail { metadata["detail"] = "\(detail)" }
        if let retryAfter { metadata["retry_after"] = "\(retryAfter.wholeSeconds)" }
        if let user { metadata["user"] = "\(user)" }
        if let client { metadata["client"] = "\(client)" }
        return RefusalLine(reason, metadata)
    }
}

extension PageRefusal: LoggedRefusal {
    package var refusalLine: RefusalLine {
        switch self {
        case .wrongCredentials, .wrongPassword: RefusalLine("wrong_password")
        case .tooManyAttempts(let seconds): RefusalLine("too_many_attempts", ["retry_after": "\(seconds)"])
        case .overloaded: RefusalLine(OAuthError.signInsOverloaded.reason)
        case .weakPassword(let fault): RefusalLine("weak_password", ["detail": "\(fault)"])
        case .notAnAddress: RefusalLine("not_an_address")
        case .notAPhoneNumber: RefusalLine("not_a_phone_number")
        case .wrongCode: RefusalLine("wrong_code")
        case .nothingAllowed: RefusalLine("nothing_allowed")
        case .tooLong(let field), .unfitText(let field): RefusalLine("unfit_profile", ["member": "\(field.rawValue)"])
        }
    }
}

extension MessagePage.Topic {
    /// The word for it in the log, unless the refusal has one that says more.
    package var reason: String {
        switch self {
        case .foreignForm: "foreign_form"
        case .reachedByHTTP: "https_issuer_reached_by_http"
        case .cookiesNeeded: "cookies_needed"
        case .linkUnknown: "link_unknown"
        case .linkGone: "link_gone"
        case .codeUnknown: "code_unknown"
        case .codeGone: "code_gone"
        case .choiceGone: "choice_gone"
        case .checkMail: "check_mail"
        case .tooManyAttempts: "too_many_attempts"
        case .emailTaken: "email_taken"
        case .phoneTaken: "phone_taken"
        case .accountExists: "account_exists"
        case .upstreamGone: "upstream_gone"
        case .upstreamDeclined: "upstream_declined"
        case .upstreamFailed: "upstream_failed"
        case .upstreamUnavailable: "upstream_unavailable"
        case .upstreamStale: "upstream_stale"
        case .upstreamUnknown: "upstream_unknown"
        case .upstreamTaken: "upstream_taken"
        case .upstreamRemoved: "upstream_removed"
        case .upstreamDisabled: "upstream_disabled"
        case .upstreamNotConnected: "upstream_not_connected"
        case .anotherUser: "form_of_another_user"
        case .accountDeletionScheduled, .accountDeleted, .accountRestored: "deletion_pending"
        case .noClient: "no_client"
        case .unknownClient: "unknown_client"
        case .noRedirectURI: "no_redirect_uri"
        case .unregisteredRedirectURI: "unregistered_redirect_uri"
        case .unregisteredCancelURI: "unregistered_cancel_uri"
        case .brokenRequest: "broken_request"
        case .requestGone: "interaction_gone"
        case .sessionLinkEmbedded: "session_code_embedded"
        case .sessionLinkUnknown: "session_code_unknown"
        case .sessionLinkGone: "session_code_gone"
        case .leaving: "leaving"
        case .notFound: "not_found"
        case .tryLater: "try_later"
        case .somethingWrong: "server_error"
        case .tooLarge: "request_too_large"
        }
    }
}

extension HTTPRefusal: LoggedRefusal {
    package var refusalLine: RefusalLine {
        switch status {
        // Scanners ask for thousands of paths.
        case .notFound: RefusalLine("not_found", isCounted: true)
        case .methodNotAllowed: RefusalLine("method_not_allowed")
        default: RefusalLine("malformed_path")
        }
    }
}
