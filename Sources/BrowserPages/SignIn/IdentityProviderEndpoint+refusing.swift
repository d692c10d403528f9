import Federation
import HTTP
import HTTPSupport
import Logging
import OAuth
import Pages
import Text
import Values

/// What users see when they are not signed in, and how they go on.
extension IdentityProviderEndpoint {
    func refuse(
        _ refusal: IdentityProviderRefusal, _ departure: Departure, _ visit: PageContext, _ context: SpindleContext
    ) -> Response {
        let level: Logger.Level =
            switch refusal {
            case .failed, .mistrusted, .unavailable: .warning
            case .tooMany, .gone, .declined, .stale, .closed: .info
            }
        context.logger.log(
            level: level, "refused",
            metadata: ["reason": "\(refusal.reason)", "issuer": "\(departure.issuer.id)"])
        switch refusal {
        case .tooMany(let wait):
            var response = pages.message(.tooManyAttempts, visit, status: .tooManyRequests)
            response.headers[.retryAfter] = String(wait.wholeSeconds)
            return response
        case .gone: return page(.upstreamGone, .gone, departure, visit)
        case .declined: return page(.upstreamDeclined, .forbidden, departure, visit)
        case .failed, .mistrusted: return page(.upstreamFailed, .badGateway, departure, visit)
        case .unavailable: return page(.upstreamUnavailable, .serviceUnavailable, departure, visit)
        case .stale: return page(.upstreamStale, .forbidden, departure, visit)
        case .closed: return page(.upstreamFailed, .forbidden, departure, visit)
        }
    }

    /// The page for a user who did sign in there, but not here.
    func say(
        _ topic: MessagePage.Topic, _ status: Status, _ departure: Departure, _ visit: PageContext,
        _ context: SpindleContext
    ) -> Response {
        context.logger.info("refused", metadata: ["reason": "\(topic)", "issuer": "\(departure.issuer.id)"])
        return page(topic, status, departure, visit)
    }

    private func page(
        _ topic: MessagePage.Topic, _ status: Status, _ departure: Departure, _ visit: PageContext
    ) -> Response {
        let onward = "?continue=\(PercentEncoding.encode(departure.continueTo?.text ?? ""))"
        let again =
            departure.user != nil
            ? AccountEndpoint.path : "/login" + onward + (departure.isAnew ? "&confirm=1&anew=1" : "")
        return pages.message(
            topic, visit,
            values: ["name": departure.issuer.title, "again": again, "signUp": SignUpEndpoint.path + onward],
            status: status)
    }
}
