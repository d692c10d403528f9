import HTTP
package import HTTPSupport
import JSON
import OAuth
import SPiD

/// The answer of an endpoint of SPiD's API, before it is put into the container.
struct SPiDAnswer: Sendable {
    enum Kind: Sendable {
        case element
        /// `offset` is how many items come before these.
        case collection(count: Int, offset: Int)
    }

    let status: Status
    /// SPiD's name for the kind of item: `User`, `Authorization`, `Utility`.
    let object: String
    let kind: Kind
    let data: JSON

    /// A single item.
    static func element(_ object: String, _ data: JSON, status: Status = .ok) -> SPiDAnswer {
        SPiDAnswer(status: status, object: object, kind: .element, data: data)
    }

    /// A list or a part of one.
    static func collection(_ object: String, _ items: [JSON], offset: Int = 0) -> SPiDAnswer {
        SPiDAnswer(
            status: .ok, object: object, kind: .collection(count: items.count, offset: offset), data: .array(items))
    }

    /// A list or a part of one, by the ids of its items.
    static func map(_ object: String, _ items: [JSON.Member], offset: Int = 0) -> SPiDAnswer {
        SPiDAnswer(
            status: .ok, object: object, kind: .collection(count: items.count, offset: offset), data: .object(items))
    }
}

extension OAuthError {
    /// The refusal in the format of SPiD's API: without the container if it is about a token, otherwise in it.
    func spidResponse(in container: SPiDContainer) -> Response {
        guard code == .invalidToken || code == .insufficientScope else {
            var response = container.response(SPiDRefusal(status, hint, reason: reason))
            // A wrong secret gets RFC 7617's challenge; this refusal only follows an Authorization header.
            decorate(&response.headers, triedHeader: true)
            return response.because(of: self)
        }
        return spidTokenResponse()
    }
}

extension SPiDRefusal: LoggedRefusal {
    package var refusalLine: RefusalLine {
        RefusalLine(reason, retryAfter.map { ["retry_after": "\($0.wholeSeconds)"] } ?? [:])
    }

    /// Too many of `what`: the description also says how long to wait.
    static func tooMany(_ what: String, wait: Duration, reason: String) -> SPiDRefusal {
        var refusal = SPiDRefusal(
            .tooManyRequests, "Too many \(what): wait \(wait.wholeSeconds) seconds", reason: reason)
        refusal.retryAfter = wait
        return refusal
    }
}
