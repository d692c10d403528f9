public import Directory
public import Values

/// What a grant proved: for whom, for which client, in which scope, and the claim that must still be won.
public struct Authorization: Sendable {
    /// Which permission the tokens belong to.
    public enum Family: Sendable {
        /// None: a client acts for itself.
        case none
        /// A new one, child of the permission that bought the code, if any.
        case new(parent: TokenFamily.ID?)
        case existing(TokenFamily.ID)
    }

    /// What the answer says about refreshing.
    public enum Refresh: Sendable {
        case none
        case issue
        /// The claim itself stores it, or it was stored before.
        case answer(Secret<RefreshToken>)
    }

    public let client: Client
    public let subject: Subject?
    public let scope: Scope
    public let family: Family
    public let refresh: Refresh
    /// The refresh token whose rotation the new access token will confirm.
    public let rotation: Fingerprint<RefreshToken>?
    /// What was asked for along with the sign-in.
    public private(set) var request: AuthenticationRequest
    /// Whether its tokens come with an authorization answer, through the browser.
    public let isOfFrontChannel: Bool
    public private(set) var claim: any Redemption

    /// A token that administers does not outlive a working session, whatever its client is set to.
    static let longestAdministration: Duration = .hours(1)

    /// What its access token lives.
    var lifetime: Duration {
        guard scope != scope.withoutAdministration else { return client.accessTokenLifetime }
        return min(client.accessTokenLifetime, Self.longestAdministration)
    }

    public init(
        client: Client, subject: Subject?, scope: Scope, family: Family, refresh: Refresh,
        rotation: Fingerprint<RefreshToken>? = nil, request: AuthenticationRequest = .none,
        isOfFrontChannel: Bool = false, claim: any Redemption
    ) {
        self.client = client
        self.subject = subject
        self.scope = scope
        self.family = family
        self.refresh = refresh
        self.rotation = rotation
        self.request = request
        self.isOfFrontChannel = isOfFrontChannel
        self.claim = claim
    }
}

extension Authorization {
    /// For the resource that a token request names (RFC 8707 §2.2): with a code or a refresh token that of the
    /// authorization request, which is one; by the other grants, whichever the client is registered for.
    func aimed(as parameters: Parameters, by grant: GrantType, issuer: String) throws(OAuthError) -> Authorization {
        let resource = try client.resource(parameters, issuer: issuer)
        guard parameters[.resource] != nil else {
            // It may have been taken from the client since the permission was given.
            guard request.resource.map(client.openID.resources.contains) ?? true else {
                throw .targetRefused("withdrawn_resource", "This client is no longer registered for the resource.")
            }
            return self
        }
        if grant == .authorizationCode || grant == .refreshToken {
            guard resource == request.resource else {
                throw .targetRefused("another_resource", "The permission was given for another resource.")
            }
            return self
        }
        // Nobody but the token itself could say whom it is for.
        if case .none = family, client.openID.accessTokenFormat == .opaque, resource != nil {
            throw .targetRefused("opaque_without_permission", "A client's own token for a resource must be a JWT.")
        }
        return aimed(at: resource)
    }

    /// The same, which is won only while its client may use `grant`.
    func confirming(_ grant: GrantType) -> Authorization {
        var confirming = self
        confirming.claim = ClientRedemption(claim: claim, client: client.id, grant: grant, scope: scope)
        return confirming
    }

    /// For `resource`; nil is us.
    public func aimed(at resource: String?) -> Authorization {
        var aimed = self
        aimed.request = request.aimed(at: resource)
        return aimed
    }
}
