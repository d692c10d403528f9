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

    /// The scope for an authorization request of this client: the requested scope without unknown words (OpenID Connect
    /// Core §3.1.2.1), and without offline access where it cannot be given (§11). The token response says what was
    /// granted (RFC 6749 §3.3).
    ///
    /// A word is known if every client may know it, or if this client is registered for it. Other clients' scopes are
    /// not looked up, so the answer reveals nothing about them. A known scope that this client may not have is refused.
    /// So is a request of which nothing is left: the client would get the default, which it did not ask for.
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

    /// Whether the client can get tokens for use while the user is away, which means a refresh token (Core §11).
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
