public import Directory
public import Values

extension AuthorizationRequest {
    /// The next step for a browser.
    public enum Step: Sendable, Equatable {
        case signIn
        /// The user says who they are, of those who are signed in to this browser, or that they are none of them.
        case pick
        /// The user is known, but the sign-in is too old for this client.
        case confirm
        case signUp
        /// The user must prove to own the e-mail address.
        case verify
        /// The user must be shown the merchant they go to: they have not met, or any app on the device may be asking.
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
        // Before anything that depends on the user: a merchant that the user has never met learns nothing about that.
        guard browser.isIntroduced || !prompt.contains(.none) else { return .refuse(.consentRequired) }
        // Nor does another's client that the user has not allowed: not whose hint or `sub` it has, nor since when.
        let isAllowed = client.may(.skipConsent) || browser.consented != nil
        guard isAllowed || !prompt.contains(.none) else { return .refuse(.consentRequired) }
        // Core §3.1.2.2, §5.5.1: no response for another user than requested, or for another way of signing in.
        guard browser.isMeant else { return hasAsked ? .refuse(.loginRequired) : signIn }
        guard hasRequiredContext(browser.subject) else {
            // Core §5.5.1.1: a failed attempt. Asked again, the user would do the same again.
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
    /// A merchant's own client need not ask. Others ask for what they do not have yet, and once even for nothing.
    public func scopeToAsk(for consented: Scope?) -> Scope? {
        guard !returnAddress.client.may(.skipConsent) else { return prompt.contains(.consent) ? scope : nil }
        guard !prompt.contains(.consent), let consented else { return wanted }
        return wanted.isSubset(of: consented) ? nil : wanted.subtracting(consented)
    }

    /// What a user is asked to allow: the scope and, of an app that is not the merchant's own, the single claims.
    var wanted: Scope {
        let client = returnAddress.client
        guard !client.may(.skipConsent) else { return scope }
        return scope.union(authentication.claims?.families(beside: scope, within: client.scope) ?? .empty)
    }

    /// With `prompt=none`, a step that needs the user becomes an error (OpenID Connect Core §3.1.2.6).
    private func orRefuse(_ step: Step) -> Step {
        guard prompt.contains(.none) else { return step }
        return switch step {
        // Nobody is current, which is all that a client learns: who was set aside is not its business.
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
