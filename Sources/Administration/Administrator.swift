public import Directory
public import JSON
public import OAuth
public import Values

/// An administrator: the platform, or one merchant. A client is one by the scope of its own tokens:
///
/// - `admin` (`Scope.admin`) makes a client without a merchant the platform's administrator, who may do everything.
/// - `admin:merchant` (`Scope.adminMerchant`) makes a merchant's client its administrator, who sees and changes only
///   what is the merchant's. What of that is still the platform's alone stands in the `permit` functions of this
///   module.
public enum Administrator: Sendable, Equatable {
    /// `client` is nil for the command line.
    case platform(client: Client.ID?)
    case merchant(Merchant.ID, client: Client.ID)

    /// The administrator that shows `token`: a client's own token with an admin scope. A user's token never is one,
    /// whatever its scope says.
    public init(_ token: AccessToken) throws(OAuthError) {
        guard token.user == nil else {
            throw OAuthError(
                .insufficientScope, "person_administers", "Administration requires a client_credentials token.")
        }
        // The token's scope is not enough: the client may have lost it since.
        func has(_ scope: String) -> Bool { token.scope.contains(scope) && token.clientScope.contains(scope) }
        if has(Scope.admin), token.merchant == nil {
            self = .platform(client: token.client)
            return
        }
        if has(Scope.adminMerchant), let merchant = token.merchant {
            self = .merchant(merchant, client: token.client)
            return
        }
        throw OAuthError.scopeMissing(Scope.admin)
    }

    /// Who runs commands at the server.
    public static let commandLine = Administrator.platform(client: nil)

    /// The merchant that it is confined to; nil for the platform.
    public var confines: Merchant.ID? { if case .merchant(let id, _) = self { id } else { nil } }

    /// The client that it is; nil for the command line.
    public var client: Client.ID? {
        switch self {
        case .platform(let client): client
        case .merchant(_, let client): client
        }
    }

    /// Whose turn it is when a password is hashed for it.
    var sender: String { if case .merchant(_, let client) = self { client.text } else { "" } }

    /// Whether the administrator may see and change what belongs to `merchant`.
    public func covers(_ merchant: Merchant.ID?) -> Bool {
        switch self {
        case .platform: true
        case .merchant(let own, _): Merchant.same(own, merchant)
        }
    }

    /// The merchant for which something is made: the one that `json` names, or the administrator's own. `what` says in
    /// a refusal what is made.
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

    /// The platform may have disabled it, against this very merchant.
    public func permit(enabling: Bool) throws {
        guard confines == nil || !enabling else {
            throw AdministrationRefusal("Only the platform may enable what is disabled.", member: "disabled")
        }
    }
}
