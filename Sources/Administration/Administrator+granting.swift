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

    /// A host needs a certificate and a name that lead to this server: both are the platform's to give.
    public func permit(serving hosts: [String]) throws {
        guard confines == nil || hosts.isEmpty else {
            throw AdministrationRefusal("Session hosts are given by the platform only.", member: "session_hosts")
        }
    }

    /// A host that no client has any more answers as this server does, with pages to sign in.
    private func permit(leaving hosts: [String]) throws {
        guard confines == nil || hosts.isEmpty else {
            throw AdministrationRefusal(
                "Session hosts lead to this server: ask the platform to take them first.", member: "session_hosts")
        }
    }

    /// Checks that a client may be deleted, in the transaction that does it.
    public func permit(deleting client: Client) throws { try permit(leaving: client.spid.sessionHosts) }

    /// Checks a change of a client, in the transaction that makes it: what the platform took a moment ago stays taken.
    public func permit(_ client: Client, toBecome changed: Client) throws {
        try permit(granting: Scope(changed.scope.tokens.filter { !client.scope.contains($0) }))
        try permit(serving: changed.spid.sessionHosts.filter { !client.spid.sessionHosts.contains($0) })
        try permit(leaving: client.spid.sessionHosts.filter { !changed.spid.sessionHosts.contains($0) })
        try permit(enabling: client.disabledAt != nil && changed.disabledAt == nil)
    }
}
