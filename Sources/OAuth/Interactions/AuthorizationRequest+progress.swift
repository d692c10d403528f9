import Directory
import Values

extension AuthorizationRequest {
    /// The request after `progress`: a prompt that a completed step has answered is removed.
    public func after(_ progress: InteractionProgress) -> AuthorizationRequest {
        var request = trying(progress.trial ?? authentication.trial)
        if progress.isByAnotherUser {
            (request.loginHint, request.idTokenHint) = (nil, nil)
            request.prompt.insert(.selectAccount)
        }
        if progress.isSignedIn {
            request.prompt.subtract(Prompt.signingIn)
            request.wantsMailedCode = false
            // Coming back takes a while itself: `max_age` must not ask again because of that.
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
