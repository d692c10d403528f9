import Directory
import Values

extension AuthorizationRequest {
    /// The same request, in which a signed-in user confirms who they are first, as on SPiD's own pages. A `prompt` of
    /// the client takes precedence.
    public func asking() -> AuthorizationRequest {
        guard returnAddress.client.may(.askAsSPiD), prompt.isEmpty else { return self }
        var request = self
        request.prompt = [.selectAccount]
        return request
    }

    /// The request after `progress`: a prompt that a completed step has answered is removed.
    public func after(_ progress: InteractionProgress) -> AuthorizationRequest {
        var request = trying(progress.trial ?? authentication.trial)
        if progress.isByAnotherUser {
            // An `id_token_hint` stays: no other user may get a response (Core §3.1.2.2).
            request.loginHint = nil
            request.prompt.insert(.selectAccount)
        }
        if progress.hasAnswered { request.prompt.remove(.selectAccount) }
        if progress.isSignedIn {
            request.prompt.subtract(Prompt.signingIn)
            request.wantsMailedCode = false
            // Returning takes a while itself, and `max_age` must not ask again because of that.
            request.maxAge = maxAge.map { max($0, .minutes(1)) }
        }
        if progress.asksConsent { request.prompt.insert(.consent) }
        if let allowed = progress.allowed {
            request.prompt.remove(.consent)
            request.scope = scope.intersection(allowed)
            request.authentication.claims = authentication.claims?.without(wanted.subtracting(allowed))
        }
        return request
    }
}
