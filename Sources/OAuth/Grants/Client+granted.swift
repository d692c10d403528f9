public import Directory

extension Client {
    /// The scope for a token request of this client: the requested one, if allowed; the default when none is requested.
    public func granted(_ requested: String?, within limit: Scope? = nil) throws(OAuthError) -> Scope {
        let limit = limit ?? scope
        guard let requested else { return limit.byDefault }
        let scope = try Scope(requested: requested)
        guard scope.isSubset(of: limit) else { throw .scopeTooWide(id) }
        return scope
    }

    /// The scope for an authorization request of this client: what is left of the requested one without the words that
    /// are no scope here (OpenID Connect Core §3.1.2.1), and without offline access where it cannot be given (§11). The
    /// token response says what was granted (RFC 6749 §3.3).
    ///
    /// A word is a scope here if it has a meaning for every client, or is among this client's: what others are
    /// registered for is not looked up, and the answer tells nothing of it. A scope with a meaning that this client may
    /// not have is refused, and so is a request of which nothing is left: it gets less than it asked for, never the
    /// default.
    func understood(_ requested: String?) throws(OAuthError) -> Scope {
        let registered = scope.withoutAdministration
        let limit = mayAskForOfflineAccess ? registered : registered.forNow
        guard let requested else { return limit.byDefault }
        let asked = try Scope(requested: requested)
        let granted = asked.intersection(limit)
        guard asked.known.forNow.isSubset(of: granted) else { throw .scopeTooWide(id) }
        guard !granted.isEmpty || asked.isEmpty else { throw .noScopeUnderstood(id) }
        return granted
    }

    /// Whether it can be given tokens for while the user is away: a refresh token is what they are (Core §11).
    var mayAskForOfflineAccess: Bool { scope.contains(Scope.offlineAccess) && may(.refreshToken) }
}

extension Scope {
    fileprivate init(requested text: String) throws(OAuthError) {
        guard let scope = Scope(parsing: text) else {
            throw .malformed(.scope, "tokens of printable ASCII separated by single spaces")
        }
        self = scope
    }
}
