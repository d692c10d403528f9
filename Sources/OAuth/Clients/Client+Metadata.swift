public import JOSE
import Values

/// What a registration or a change says about a client, in the member names of RFC 7591 §2.
public struct ClientMetadata: Sendable {
    var name: String
    var redirectURIs: [RedirectURI]
    var grantTypes: Set<GrantType>
    public internal(set) var scope: Scope
    var authentication: Client.Authentication
    var firstParty: Bool
    var spidCompatible: Bool
    var rotatesRefreshTokens: Bool
    var accessTokenLifetime: Duration
    var refreshTokenLifetime: Duration
    var webOrigins: [String]
    var postLogoutRedirectURIs: [RedirectURI]
    var callbackURI: String?
    var requiresVerifiedEmail: Bool
    var signsResponses: Bool
    var termsURI: String?
    var openID: OpenIDSettings

    /// Reads `json` over `base`, or over the defaults of RFC 7591 §2.
    public init(_ json: JSON, over base: Client? = nil) throws {
        let members = try JSONMembers(json)
        name = try members.text("client_name") ?? base?.name ?? "Unnamed client"
        redirectURIs = try Self.redirectURIs(members, "redirect_uris") ?? base?.redirectURIs ?? []
        grantTypes = try Self.grantTypes(members) ?? base?.grantTypes ?? [.authorizationCode]
        scope = try Self.scope(members) ?? base?.scope ?? .empty
        authentication = try Self.authentication(members) ?? base?.authentication ?? .secretBasic
        firstParty = try members.flag("first_party") ?? base?.firstParty ?? true
        spidCompatible = try members.flag("spid_compatible") ?? base?.spidCompatible ?? false
        rotatesRefreshTokens = try members.flag("rotate_refresh_tokens") ?? base?.rotatesRefreshTokens ?? false
        accessTokenLifetime =
            try members.seconds("access_token_lifetime", within: 10...31_536_000) ?? base?.accessTokenLifetime
            ?? .hours(1)
        refreshTokenLifetime =
            try members.seconds("refresh_token_lifetime", within: 60...31_536_000) ?? base?.refreshTokenLifetime
            ?? .days(30)
        webOrigins = try Self.webOrigins(members) ?? base?.webOrigins ?? []
        postLogoutRedirectURIs =
            try Self.redirectURIs(members, "post_logout_redirect_uris") ?? base?.postLogoutRedirectURIs ?? []
        callbackURI = try Self.callbackURI(members, base)
        requiresVerifiedEmail = try members.flag("require_verified_email") ?? base?.requiresVerifiedEmail ?? false
        signsResponses = try members.flag("signed_responses") ?? base?.signsResponses ?? false
        termsURI = try Self.termsURI(members, base)
        openID = try OpenIDSettings(json, over: base?.openID, redirectURIs: redirectURIs)
        if let base, base.authentication != authentication {
            throw JSONFault("token_endpoint_auth_method", "what it was: a client's method cannot change")
        }
        try checkTogether()
    }

    /// Whether it would be a client that administers the platform.
    public var asksForAdministration: Bool { scope.contains(Scope.admin) }

    private func checkTogether() throws(JSONFault) {
        if authentication == .none, grantTypes.contains(.clientCredentials) {
            // RFC 6749 §4.4: the client credentials grant is for confidential clients.
            throw JSONFault("grant_types", "without client_credentials for a client that has no secret")
        }
        if authentication == .none, scope.contains(Scope.admin) || scope.contains(Scope.adminMerchant) {
            throw JSONFault("scope", "without admin scopes for a client that has no secret")
        }
    }

    private static func redirectURIs(
        _ members: JSONMembers, _ name: String
    ) throws(JSONFault) -> [RedirectURI]? {
        guard let list = try members.list(name) else { return nil }
        var uris: [RedirectURI] = []
        for text in list {
            guard let uri = RedirectURI(registering: text) else {
                throw JSONFault(
                    name,
                    "absolute URIs without fragment, user or password, in a scheme that runs no script; https, "
                        + "or http to localhost, 127.0.0.0/8 or ::1")
            }
            if !uris.contains(uri) { uris.append(uri) }
        }
        return uris
    }

    private static func grantTypes(_ members: JSONMembers) throws(JSONFault) -> Set<GrantType>? {
        guard let list = try members.list("grant_types") else { return nil }
        let types = list.map(GrantType.init)
        guard types.allSatisfy(GrantType.all.contains) else {
            throw JSONFault("grant_types", "of \(GrantType.all.map(\.name).joined(separator: ", "))")
        }
        return Set(types)
    }

    private static func scope(_ members: JSONMembers) throws(JSONFault) -> Scope? {
        guard members.any("scope") != nil else { return nil }
        if members.any("scope")?.string == "" { return .empty }
        guard let text = try members.text("scope", most: 2000) else { return nil }
        do {
            return try Scope(parsing: text)
        } catch {
            throw JSONFault("scope", "scope tokens of printable ASCII separated by spaces")
        }
    }

    private static func authentication(_ members: JSONMembers) throws(JSONFault) -> Client.Authentication? {
        guard let text = try members.text("token_endpoint_auth_method") else { return nil }
        guard let method = Client.Authentication(rawValue: text) else {
            throw JSONFault("token_endpoint_auth_method", "client_secret_basic, client_secret_post or none")
        }
        return method
    }
}

extension JSONFault {
    public static let platformScopeOfMerchant = JSONFault(
        "scope", "without admin for a merchant's client; admin:merchant is for those")
}

extension Client {
    mutating func take(_ metadata: ClientMetadata) {
        name = metadata.name
        redirectURIs = metadata.redirectURIs
        grantTypes = metadata.grantTypes
        scope = metadata.scope
        firstParty = metadata.firstParty
        spidCompatible = metadata.spidCompatible
        rotatesRefreshTokens = metadata.rotatesRefreshTokens
        accessTokenLifetime = metadata.accessTokenLifetime
        refreshTokenLifetime = metadata.refreshTokenLifetime
        webOrigins = metadata.webOrigins
        postLogoutRedirectURIs = metadata.postLogoutRedirectURIs
        callbackURI = metadata.callbackURI
        requiresVerifiedEmail = metadata.requiresVerifiedEmail
        signsResponses = metadata.signsResponses
        termsURI = metadata.termsURI
        openID = metadata.openID
    }
}
