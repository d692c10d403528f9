public import Directory
public import Values

extension AuthorizationRequest {
    /// The next step for a browser.
    public enum Step: Sendable, Equatable {
        case signIn
        /// The user picks one of the users signed in to this browser, or none of them.
        case pick
        /// The user is known, but the sign-in is too old for this client.
        case confirm
        case signUp
        /// The user must verify their e-mail address.
        case verify
        /// The user must be shown the merchant first: they are new to it, or any app on the device may be asking.
        case introduce
        /// The user must be asked for this scope.
        case consent(Scope)
        case respond
        case refuse(OAuthError.Code)
    }

    /// Decides the next step, as a pure function. Each step stores its result and comes back here.
    ///
    /// `prompt=login` asks again in any session, also in one bought with a session code. The request that returns from
    /// a page leaves out what that page has answered. A bought session carries the sign-in time of its token, so
    /// `max_age` holds too. `hasAsked`: the browser comes from the sign-in that this request asked for.
    /// `canPick`: a session in the browser, the current one or one that was set aside, would do for this request.
    public func next(
        for browser: BrowserSessionState?, at now: Timestamp, hasAsked: Bool = false, canPick: Bool = false
    ) -> Step {
        let client = returnAddress.client
        guard !prompt.contains(.create) else { return .signUp }
        guard !asksAgain else { return orRefuse(.signIn) }
        let signIn = orRefuse(canPick ? .pick : .signIn)
        guard let browser, browser.origin.isGood(for: client), !browser.isGone, !prompt.contains(.selectAccount) else {
            return signIn
        }
        // Before anything that depends on the user: a merchant that is new to the user learns nothing about them.
        guard browser.isIntroduced || !prompt.contains(.none) else { return .refuse(.consentRequired) }
        // A third-party client that the user has not allowed learns nothing either: not whether its hint or `sub`
        // matches, nor the age of the sign-in.
        let isAllowed = client.may(.skipConsent) || browser.consented != nil
        guard isAllowed || !prompt.contains(.none) else { return .refuse(.consentRequired) }
        // Core §3.1.2.2, §5.5.1: no response for another user than requested, or for another way of signing in.
        guard browser.isMeant else { return hasAsked ? .refuse(.loginRequired) : signIn }
        guard hasRequiredContext(browser.subject) else {
            // Core §5.5.1.1: a failed attempt. Asking again would lead to the same sign-in.
            return hasAsked ? .refuse(.unmetAuthenticationRequirements) : orRefuse(.signIn)
        }
        guard !wantsMailedCode || prompt.contains(.none) || browser.subject.method == .mail else { return .signIn }
        guard isFresh(browser, at: now) else { return orRefuse(.confirm) }
        // The consent page names the merchant and the app too.
        guard browser.isIntroduced || scopeToAsk(for: browser.consented) != nil else { return .introduce }
        if client.requiresVerifiedEmail, browser.email != .verified, isAllowed || browser.email != .none {
            // A user without an address cannot verify one, so the verification page would lead nowhere.
            return browser.email == .none ? .refuse(.accessDenied) : orRefuse(.verify)
        }
        if let scope = scopeToAsk(for: browser.consented) { return orRefuse(.consent(scope)) }
        guard browser.isPresent || !returnAddress.isOpenToAnyApp(for: responseType) else { return orRefuse(.introduce) }
        return .respond
    }

    /// The scope to ask the user for, when `consented` was allowed before; nil when no question is needed.
    ///
    /// First-party clients do not ask. Others ask for what they lack, and once even if they request nothing.
    public func scopeToAsk(for consented: Scope?) -> Scope? {
        guard !returnAddress.client.may(.skipConsent) else { return prompt.contains(.consent) ? scope : nil }
        guard !prompt.contains(.consent), let consented else { return wanted }
        return wanted.isSubset(of: consented) ? nil : wanted.subtracting(consented)
    }

    /// What a user is asked to allow: the scope and, for a third-party client, the single claims.
    var wanted: Scope {
        let client = returnAddress.client
        guard !client.may(.skipConsent) else { return scope }
        return scope.union(authentication.claims?.families(beside: scope, within: client.scope) ?? .empty)
    }

    /// With `prompt=none`, a step that needs the user becomes an error (OpenID Connect Core §3.1.2.6).
    private func orRefuse(_ step: Step) -> Step {
        guard prompt.contains(.none) else { return step }
        return switch step {
        // A client only learns that no user is current, not who was set aside.
        case .signIn, .pick, .confirm, .signUp: .refuse(.loginRequired)
        case .verify, .introduce: .refuse(.interactionRequired)
        case .consent: .refuse(.consentRequired)
        case .respond, .refuse: step
        }
    }

    // OpenID Connect Core §3.1.2.1: max_age=0 is prompt=login.
    private var asksAgain: Bool { prompt.contains(.login) || maxAge == .zero }

    private func hasRequiredContext(_ subject: Subject) -> Bool {
        let required = authentication.claims?.requiredContexts ?? []
        return required.isEmpty || subject.method.map { required.contains(AuthenticationContext.of($0)) } ?? false
    }

    private func isFresh(_ browser: BrowserSessionState, at now: Timestamp) -> Bool {
        guard let maxAge else { return true }
        return browser.isDated && now - browser.subject.signedInAt <= maxAge
    }
}
