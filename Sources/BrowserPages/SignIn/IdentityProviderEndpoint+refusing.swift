import Federation
import HTTP
import HTTPSupport
import Logging
import OAuth
import Pages
import Text
import Values

/// What users see when they are not signed in, and how they continue.
extension IdentityProviderEndpoint {
    func refuse(
        _ refusal: IdentityProviderRefusal, _ attempt: Attempt, _ visit: PageContext, _ context: SpindleContext
    ) -> Response {
        let level: Logger.Level =
            switch refusal {
            case .failed, .mistrusted, .unavailable: .warning
            case .tooMany, .tooManyNewcomers, .gone, .declined, .stale, .closed: .info
            }
        context.logger.log(
            level: level, "refused",
            metadata: ["reason": "\(refusal.reason)", "issuer": "\(attempt.issuer.id)"])
        switch refusal {
        case .tooMany(let wait), .tooManyNewcomers(let wait):
            return pages.message(.tooManyAttempts, visit, status: .tooManyRequests).asking(toWait: wait)
        case .gone: return page(.upstreamGone, .gone, attempt, visit)
        case .declined: return page(.upstreamDeclined, .forbidden, attempt, visit)
        case .failed, .mistrusted: return page(.upstreamFailed, .badGateway, attempt, visit)
        case .unavailable: return page(.upstreamUnavailable, .serviceUnavailable, attempt, visit)
        case .stale: return page(.upstreamStale, .forbidden, attempt, visit)
        case .closed: return page(.upstreamFailed, .forbidden, attempt, visit)
        }
    }

    /// The page for a user who did sign in there, but not here.
    func say(
        _ topic: MessagePage.Topic, _ status: Status, _ attempt: Attempt, _ visit: PageContext,
        _ context: SpindleContext
    ) -> Response {
        context.logger.info("refused", metadata: ["reason": "\(topic)", "issuer": "\(attempt.issuer.id)"])
        return page(topic, status, attempt, visit)
    }

    private func page(
        _ topic: MessagePage.Topic, _ status: Status, _ attempt: Attempt, _ visit: PageContext
    ) -> Response {
        let onward = "?continue=\(PercentEncoding.encode(attempt.continueTo?.text ?? ""))"
        let again =
            attempt.linkingSession != nil
            ? AccountEndpoint.path : "/login" + onward + (attempt.isAnew ? "&confirm=1&anew=1" : "")
        return pages.message(
            topic, visit,
            values: ["name": attempt.issuer.title, "again": again, "signUp": SignUpEndpoint.path + onward],
            status: status)
    }
}
