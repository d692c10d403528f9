public import Directory
public import JSON
public import OAuth
public import Values

/// Who administers: the platform, or one merchant.
public enum Administrator: Sendable, Equatable {
    case platform
    case merchant(Merchant.ID, client: Client.ID)

    /// Who shows `token`: a client's own with an admin scope; a person's never is, whatever its scope says.
    public init(_ token: AccessToken) throws(OAuthError) {
        guard token.user == nil else {
            throw OAuthError(
                .insufficientScope, "person_administers", "Administration takes a client_credentials token.")
        }
        // What the client was when the token was issued is not enough: the scope may have been taken from it since.
        func has(_ scope: String) -> Bool { token.scope.contains(scope) && token.clientScope.contains(scope) }
        if has(Scope.admin), token.merchant == nil {
            self = .platform
            return
        }
        if has(Scope.adminMerchant), let merchant = token.merchant {
            self = .merchant(merchant, client: token.client)
            return
        }
        throw OAuthError.scopeMissing(Scope.admin)
    }

    /// The merchant it is confined to.
    public var confines: Merchant.ID? { if case .merchant(let id, _) = self { id } else { nil } }

    /// Whether it may see and touch what belongs to `merchant`.
    public func covers(_ merchant: Merchant.ID?) -> Bool {
        switch self {
        case .platform: true
        case .merchant(let own, _): Merchant.same(own, merchant)
        }
    }

    /// The merchant that `json` names, or else its own: for whom something is made. `what` it may make for no other.
    public func merchant(_ json: JSON, toMake what: String) throws -> Merchant.ID {
        let named = try JSONMembers(json).text("merchant_id").map { Merchant.ID($0) }
        guard let merchant = named ?? confines else { throw JSONFault("merchant_id", "given") }
        guard covers(merchant) else {
            throw AdministrationRefusal("You may make \(what) of your own merchant only.", member: "merchant_id")
        }
        return merchant
    }

    public func requirePlatform(_ what: String) throws(AdministrationRefusal) {
        guard case .platform = self else {
            throw AdministrationRefusal("Only the platform's administrator may \(what).")
        }
    }

    /// Admin scopes are granted by the platform only.
    public func permit(granting scope: Scope) throws {
        guard confines == nil || scope == scope.withoutAdministration else {
            throw AdministrationRefusal("Admin scopes are granted by the platform only.", member: "scope")
        }
    }

    /// A change of a client, judged in its own transaction: what the platform took a moment ago stays taken.
    public func permit(_ client: Client, toBecome changed: Client) throws {
        try permit(granting: Scope(changed.scope.tokens.filter { !client.scope.contains($0) }))
        try permit(enabling: client.disabledAt != nil && changed.disabledAt == nil)
    }

    /// Whoever disabled it may have been the platform, against this very merchant.
    public func permit(enabling: Bool) throws {
        guard confines == nil || !enabling else {
            throw AdministrationRefusal("What is disabled is enabled by the platform only.", member: "disabled")
        }
    }
}
