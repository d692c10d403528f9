public import Directory

/// Who grants the scopes that make a client an administrator: which they are, and what each allows, stands at
/// `Administrator`.
extension Administrator {
    /// Only the platform grants admin scopes.
    public func permit(granting scope: Scope) throws {
        guard confines == nil || !scope.administers else {
            throw AdministrationRefusal("Admin scopes are granted by the platform only.", member: "scope")
        }
    }

    /// Checks a change of a client, in the transaction that makes it: what the platform took a moment ago stays taken.
    public func permit(_ client: Client, toBecome changed: Client) throws {
        try permit(granting: Scope(changed.scope.tokens.filter { !client.scope.contains($0) }))
        try permit(enabling: client.disabledAt != nil && changed.disabledAt == nil)
    }
}
