public import Directory
public import Values

extension AuthorizationRequest {
    /// What to do next for a browser.
    public enum Step: Sendable, Equatable {
        case signIn
        /// The person is known, but the sign-in is too old for this client.
        case confirm
        case signUp
        /// The person must show to read the e-mail address.
        case verify
        /// The person must be shown whom they go on to: they have never met, or anybody on the device could be asking.
        case introduce
        /// The person must be asked for this scope.
        case consent(Scope)
        case respond
        case refuse(OAuthError.Code)
    }

    /// The whole decision, purely. Each step stores what it finds out and comes back here.
    ///
    /// `prompt=login` asks whatever session there is, one bought with a session code included; the way back from a page
    /// leaves out what that page was the answer to. A bought session carries the sign-in time of its token, so `max_age`
    /// is honest too. `hasAsked`: the browser comes from the sign-in that this request asked for.
    public func next(for visitor: BrowserSessionState?, at now: Timestamp, hasAsked: Bool = false) -> Step {
        let client = returnAddress.client
        guard !prompt.contains(.create) else { return .signUp }
        guard let visitor, visitor.session.isGood(for: client), !asksAgain else { return orRefuse(.signIn) }
        // Before anything that depends on who it is: a merchant that the person has never met learns nothing of that.
        guard visitor.isIntroduced || !prompt.contains(.none) else { return .refuse(.consentRequired) }
        // Core §3.1.2.2, §5.5.1: for another person than was asked for, or one who signed in otherwise, there is no answer.
        guard visitor.isMeant else { return orRefuse(.signIn) }
        guard hasRequiredContext(visitor.subject) else {
            // Core §5.5.1.1: a failed attempt. Asked again, the person would do the same again.
            return hasAsked ? .refuse(.unmetAuthenticationRequirements) : orRefuse(.signIn)
        }
        guard isFresh(visitor, at: now) else { return orRefuse(.confirm) }
        // The page that asks for consent names both too.
        guard visitor.isIntroduced || scopeToAsk(for: visitor.consented) != nil else { return .introduce }
        if client.requiresVerifiedEmail, visitor.email != .verified {
            // Who has no address cannot verify one: nothing here would lead anywhere.
            return visitor.email == .none ? .refuse(.accessDenied) : orRefuse(.verify)
        }
        if let scope = scopeToAsk(for: visitor.consented) { return orRefuse(.consent(scope)) }
        guard visitor.isPresent || !returnAddress.isOpenToAnyApp else { return orRefuse(.introduce) }
        return .respond
    }

    /// What the person must be asked for, when `consented` was allowed before; nil when there is no need.
    ///
    /// A merchant's own client need not ask. Another asks for what it has not got yet, and once even if that is nothing.
    public func scopeToAsk(for consented: Scope?) -> Scope? {
        let client = returnAddress.client
        guard !client.firstParty else { return prompt.contains(.consent) ? scope : nil }
        let claims = authentication.claims?.families(beside: scope, within: client.scope) ?? .empty
        let wanted = scope.union(claims)
        guard !prompt.contains(.consent), let consented else { return wanted }
        return wanted.isSubset(of: consented) ? nil : wanted.subtracting(consented)
    }

    /// With `prompt=none` no step that needs the person is taken (OpenID Connect Core §3.1.2.6).
    private func orRefuse(_ step: Step) -> Step {
        guard prompt.contains(.none) else { return step }
        return switch step {
        case .signIn, .confirm, .signUp: .refuse(.loginRequired)
        case .verify, .introduce: .refuse(.interactionRequired)
        case .consent: .refuse(.consentRequired)
        case .respond, .refuse: step
        }
    }

    // OpenID Connect Core §3.1.2.1: max_age=0 is prompt=login.
    private var asksAgain: Bool { !prompt.isDisjoint(with: Prompt.signingIn) || maxAge == .zero }

    private func hasRequiredContext(_ subject: Subject) -> Bool {
        let required = authentication.claims?.requiredContexts ?? []
        return required.isEmpty || subject.method.map { required.contains(AuthenticationContext.of($0)) } ?? false
    }

    private func isFresh(_ visitor: BrowserSessionState, at now: Timestamp) -> Bool {
        guard let maxAge else { return true }
        return visitor.session.isDated && now - visitor.subject.signedInAt <= maxAge
    }
}
