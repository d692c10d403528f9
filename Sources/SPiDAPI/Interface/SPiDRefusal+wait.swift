import HTTP
import HTTPSupport
import SPiD

extension SPiDRefusal {
    /// Too many of `what`: the description also says how long to wait.
    static func tooMany(_ what: String, wait: Duration, reason: String) -> SPiDRefusal {
        var refusal = SPiDRefusal(
            .tooManyRequests, "Too many \(what): wait \(wait.wholeSeconds) seconds", reason: reason)
        refusal.retryAfter = wait
        return refusal
    }
}
