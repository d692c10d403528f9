public import Directory

/// What a person's answer to the question for consent comes to.
public struct ConsentDecision: Sendable, Equatable {
    /// What the page asked for.
    public let shown: Scope
    /// What of it the person allowed.
    public let allowed: Scope
    /// What the request may go on with: that, and what it needed not ask for.
    public let granted: Scope

    public init(shown: Scope, allowed: Scope, granted: Scope) {
        self.shown = shown
        self.allowed = allowed
        self.granted = granted
    }

    /// There is no saying no to being recognized alone, nor to a single claim: who does not want that denies the whole.
    public static func isRequired(_ name: String) -> Bool { name == Scope.openID || ClaimsRequest.isPermission(name) }
}

extension AuthorizationRequest {
    /// What comes of a person's ticks, of whom the client was allowed `consented` before. Nil when there was nothing to
    /// ask: a form that was sent twice. What was not asked for is not granted, whatever the form says.
    public func decision(ticked: Scope, consented: Scope?) -> ConsentDecision? {
        guard let shown = scopeToAsk(for: consented) else { return nil }
        let required = Scope(shown.tokens.filter(ConsentDecision.isRequired))
        let allowed = shown.intersection(ticked.union(required))
        let granted = scope.intersection(scope.subtracting(shown).union(allowed))
        return ConsentDecision(shown: shown, allowed: allowed, granted: granted)
    }
}
