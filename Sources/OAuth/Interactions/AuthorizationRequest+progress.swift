import Directory
import Values

extension AuthorizationRequest {
    /// The request as it stands after `progress`: what a step was the answer to is asked for no more.
    public func after(_ progress: InteractionProgress) -> AuthorizationRequest {
        var request = trying(progress.trial ?? authentication.trial)
        if progress.isBySomebodyElse {
            (request.loginHint, request.idTokenHint) = (nil, nil)
            request.prompt.insert(.selectAccount)
        }
        if progress.isSignedIn {
            request.prompt.subtract(Prompt.signingIn)
            // The way back itself takes a while: it is not asked again for a `max_age` that this could outlast.
            request.maxAge = maxAge.map { max($0, .minutes(1)) }
        }
        if progress.asksConsent { request.prompt.insert(.consent) }
        if let allowed = progress.allowed {
            request.prompt.remove(.consent)
            request.scope = scope.intersection(allowed)
        }
        return request
    }
}
