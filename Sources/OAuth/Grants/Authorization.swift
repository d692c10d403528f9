public import Directory
public import Values

/// The result of a grant: user, client, scope, and the redemption that must still be won.
public struct Authorization: Sendable {
    /// The token family of the tokens.
    public enum Family: Sendable {
        /// No family: a client acts for itself.
        case none
        case new(Origin)
        case existing(TokenFamily.ID)
    }

    /// What a new family comes from.
    public enum Origin: Sendable {
        /// Its client, which acts for itself.
        case client
        /// A sign-in, in this request or in a browser session.
        case signIn(SignIn)
        /// A browser session that the family at this path had bought.
        case webView(SignIn, of: TokenFamily.Path)
        /// A code, redeemed by storing the family under the code's id.
        case code(ExchangeCode)

        /// The origin of tokens got in a session with this sign-in, which the family at `buyer` bought, if any.
        static func session(_ signIn: SignIn, boughtBy buyer: TokenFamily.Path?) -> Origin {
            buyer.map { .webView(signIn, of: $0) } ?? .signIn(signIn)
        }
    }

    /// What the response says about refreshing.
    public enum Refresh: Sendable {
        case none
        case issue
        /// The redemption stores this refresh token, or has stored it before.
        case answer(Secret<RefreshToken>)
    }

    @Boxed public private(set) var client: Client
    public let subject: Subject?
    public let scope: Scope
    public let family: Family
    public let refresh: Refresh
    /// The refresh token whose rotation the new access token will confirm.
    public let rotation: Fingerprint<RefreshToken>?
    /// What the request asked for along with the sign-in.
    public private(set) var request: AuthenticationRequest
    /// Whether the tokens come in an authorization response, through the browser.
    public let isOfFrontChannel: Bool
    public private(set) var redemption: any Redemption

    /// The longest lifetime of a token with an admin scope, whatever its client is set to: about a working session.
    static let longestAdministration: Duration = .hours(1)

    /// The lifetime of the access token.
    var lifetime: Duration {
        if scope.administers { return min(client.accessTokenLifetime, Self.longestAdministration) }
        return isRenewable ? client.renewableTokenLifetime : client.accessTokenLifetime
    }

    /// Whether the client can get another token at any time: with its own credentials, or by refreshing.
    private var isRenewable: Bool {
        guard subject != nil, case .new = family, case .none = refresh else { return true }
        return false
    }

    public init(
        client: Client, subject: Subject?, scope: Scope, family: Family, refresh: Refresh,
        rotation: Fingerprint<RefreshToken>? = nil, request: AuthenticationRequest = .none,
        isOfFrontChannel: Bool = false, redemption: any Redemption
    ) {
        self.client = client
        self.subject = subject
        self.scope = scope
        self.family = family
        self.refresh = refresh
        self.rotation = rotation
        self.request = request
        self.isOfFrontChannel = isOfFrontChannel
        self.redemption = redemption
    }
}

extension Client {
    /// The lifetime of an access token that the client can renew at any time. Such tokens have no count limit, as token
    /// families have, and a client in a loop leaves one each time.
    var renewableTokenLifetime: Duration { min(accessTokenLifetime, Self.longestRenewable) }
}

extension Authorization {
    /// The authorization for the resource that a token request names (RFC 8707 §2.2). A code or refresh token allows
    /// only the resource of its authorization request; other grants allow any that the client is registered for.
    func aimed(as parameters: Parameters, by grant: GrantType, issuer: String) throws(OAuthError) -> Authorization {
        let resource = try client.resource(parameters, issuer: issuer)
        guard parameters[.resource] != nil else {
            // The client may have lost the resource since the user authorized it.
            guard request.resource.map(client.openID.resources.contains) ?? true else {
                throw .targetRefused(
                    "withdrawn_resource",
                    "This client is no longer registered for the resource; add it to the client's resources.")
            }
            return self
        }
        if grant == .authorizationCode || grant == .refreshToken {
            guard resource == request.resource else {
                throw .targetRefused("another_resource", "The user's permission is for another resource.")
            }
            return self
        }
        return aimed(at: resource)
    }

    /// The same authorization, won only while its client may use `grant`.
    func confirming(_ grant: GrantType) -> Authorization {
        won(by: ClientRedemption(redemption: redemption, client: client, grant: grant, scope: scope))
    }

    /// The same authorization with another redemption.
    func won(by redemption: any Redemption) -> Authorization {
        var authorization = self
        authorization.redemption = redemption
        return authorization
    }

    /// The same authorization for `resource`; nil is this server.
    public func aimed(at resource: String?) -> Authorization {
        var aimed = self
        aimed.request = request.aimed(at: resource)
        return aimed
    }
}

extension Client {
    /// The scope for a token request of this client: the requested one, if allowed; the default when none is requested.
    public func granted(_ requested: String?, within limit: Scope? = nil) throws(OAuthError) -> Scope {
        let limit = limit ?? scope
        guard let requested else { return limit.byDefault }
        let scope = try Scope(requested: requested)
        let refused = scope.subtracting(limit)
        guard refused.isEmpty else { throw .scopeTooWide(refused, of: self) }
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
        let refused = asked.known.forNow.subtracting(granted)
        guard refused.isEmpty else { throw .scopeTooWide(refused, of: self) }
        guard !granted.isEmpty || asked.isEmpty else { throw .noScopeUnderstood(asked, id) }
        return granted
    }

    /// Whether the client can get tokens for use while the user is away, which means a refresh token (Core §11).
    var mayAskForOfflineAccess: Bool { scope.contains(Scope.offlineAccess) && may(.refreshToken) }
}

extension Scope {
    fileprivate init(requested text: String) throws(OAuthError) {
        guard let scope = Scope(parsing: text) else {
            throw .malformed(.scope, "tokens of printable ASCII, without quotes and backslashes, separated by spaces")
        }
        self = scope
    }
}
