public import Directory

/// A user's decision on the consent page.
public struct ConsentDecision: Sendable, Equatable {
    /// The scope that the page asked for.
    public let shown: Scope
    /// The part of it that the user allowed.
    public let allowed: Scope
    /// What the request continues with: what the user allowed and what needed no question, including single claims.
    public let granted: Scope

    public init(shown: Scope, allowed: Scope, granted: Scope) {
        self.shown = shown
        self.allowed = allowed
        self.granted = granted
    }

    /// Whether `name` cannot be declined alone. Claims can, also those that the client calls essential (Core §5.5.1).
    public static func isRequired(_ name: String) -> Bool { name == Scope.openID }
}

extension AuthorizationRequest {
    /// The decision from the ticks of a user who had already allowed `consented`. Nil when there was nothing to ask, as
    /// for a form sent twice. A form cannot grant what was not asked for.
    public func decision(ticked: Scope, consented: Scope?) -> ConsentDecision? {
        guard let shown = scopeToAsk(for: consented) else { return nil }
        let required = Scope(shown.tokens.filter(ConsentDecision.isRequired))
        let allowed = shown.intersection(ticked.union(required))
        let granted = wanted.subtracting(shown).union(allowed)
        return ConsentDecision(shown: shown, allowed: allowed, granted: granted)
    }
}
