public import Directory

extension Client {
    /// The scope for a request of this client: the requested one, if allowed; the default when none is requested.
    public func granted(_ requested: String?, within limit: Scope? = nil) throws(OAuthError) -> Scope {
        let limit = limit ?? scope
        guard let requested else { return limit.byDefault }
        guard let scope = Scope(parsing: requested) else {
            throw .malformed(.scope, "tokens of printable ASCII separated by single spaces")
        }
        guard scope.isSubset(of: limit) else { throw .scopeTooWide(id) }
        return scope
    }
}
