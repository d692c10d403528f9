import JSON
import Storage
import Values

extension Client {
    init(_ row: Row) throws {
        let redirectURIs = try Self.list(row, "redirect_uris").map(RedirectURI.init(stored:))
        self.init(
            id: try row.get("id"), kind: try ClientKind(row), name: try row.get("name"),
            redirectURIs: redirectURIs,
            grantTypes: Set(try Self.list(row, "grant_types").map(GrantType.init)), scope: try row.get("scope"),
            authentication: try Self.authentication(row),
            rotatesRefreshTokens: try row.get("rotates_refresh_tokens"),
            accessTokenLifetime: .milliseconds(try row.get("access_token_lifetime", as: Int64.self)),
            refreshTokenLifetime: .milliseconds(try row.get("refresh_token_lifetime", as: Int64.self)),
            refreshFamilyLifetime: RefreshFamilyLifetime(stored: try row.get("refresh_family_lifetime")),
            refreshRepeatWindow: .milliseconds(try row.get("refresh_repeat_window", as: Int64.self)),
            chosenRefreshLeeway: try row.get("refresh_leeway", as: Int64?.self).map { .milliseconds($0) },
            requiresPKCE: try row.get("requires_pkce"),
            webPages: try Self.list(row, "web_origins").map(WebPages.init(stored:)),
            postLogoutRedirectURIs: try Self.list(row, "post_logout_redirect_uris").map(RedirectURI.init(stored:)),
            callbackURI: try row.get("callback_uri"), requiresVerifiedEmail: try row.get("requires_verified_email"),
            signsResponses: try row.get("signs_responses"), termsURI: try row.get("terms_uri"),
            termsChangedAt: try row.get("terms_changed_at"), openID: try Self.openID(row, redirectURIs),
            spid: try Self.spid(row),
            sealedSignSecret: try row.get("sealed_sign_secret"),
            scopeLimit: try row.get("scope_limit"), grantLimit: try Self.grantLimit(row),
            createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), usedAt: try row.get("used_at"),
            disabledAt: try row.get("disabled_at"),
            secretEndedAt: try row.get("secret_ended_at"), identityChangedAt: try row.get("identity_changed_at"))
    }

    /// Lists are stored one item a line: neither a URI nor the name of a grant type can contain a line feed. Split as
    /// bytes: splitting characters takes milliseconds for a client with many addresses.
    private static func list(_ row: Row, _ column: String) throws -> [String] {
        try row.get(column, as: String.self).utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) }
    }

    private static func grantLimit(_ row: Row) throws -> Set<GrantType>? {
        guard try row.get("grant_limit", as: String?.self) != nil else { return nil }
        return Set(try list(row, "grant_limit").map(GrantType.init))
    }

    private static func openID(_ row: Row, _ redirectURIs: [RedirectURI]) throws -> OpenIDSettings {
        let text = try row.get("openid", as: String.self)
        // Most clients have registered no OpenID Connect settings.
        guard text != "{}" else { return OpenIDSettings() }
        // All redirect URIs of a pairwise client have one host: that was checked before they were stored.
        let sector = Array(redirectURIs.prefix(1))
        return try OpenIDSettings(try JSON(stored: text), over: nil, redirectURIs: sector, isStored: true)
    }

    private static func spid(_ row: Row) throws -> SPiDSettings {
        let text = try row.get("spid", as: String.self)
        guard text != "{}" else { return SPiDSettings() }
        return try SPiDSettings(try JSONMembers(try JSON(stored: text)), over: nil)
    }

    private static func authentication(_ row: Row) throws -> Authentication {
        guard let method = Authentication(rawValue: try row.get("authentication_method")) else {
            throw StorageError.unreadable("clients.authentication_method")
        }
        return method
    }
}

extension Clients {
    static func insert(_ client: Client, in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO clients (id, merchant_id, name, redirect_uris, grant_types, scope, authentication_method,
                custody, first_party, spid_compatible, rotates_refresh_tokens, access_token_lifetime,
                refresh_token_lifetime, refresh_family_lifetime, refresh_repeat_window, refresh_leeway, requires_pkce,
                web_origins, post_logout_redirect_uris, callback_uri, requires_verified_email, signs_responses,
                terms_uri, terms_changed_at, openid, spid, sealed_sign_secret, created_at, updated_at)
            VALUES (\(client.id), \(client.merchant), \(client.name), \(client.storedURIs), \(client.storedGrants),
                \(client.scope), \(client.authentication.rawValue), \(client.kind.custody.rawValue),
                \(client.kind.isFirstParty), \(client.kind.isSPiDCompatible),
                \(client.rotatesRefreshTokens), \(client.accessTokenLifetime.milliseconds),
                \(client.refreshTokenLifetime.milliseconds), \(client.refreshFamilyLifetime.stored),
                \(client.refreshRepeatWindow.milliseconds), \(client.chosenRefreshLeeway?.milliseconds),
                \(client.requiresPKCE), \(client.storedOrigins),
                \(client.storedLogoutURIs), \(client.callbackURI), \(client.requiresVerifiedEmail),
                \(client.signsResponses), \(client.termsURI), \(client.termsChangedAt), \(client.storedOpenID),
                \(client.storedSPiD), \(client.sealedSignSecret), \(client.createdAt), \(client.updatedAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    static func update(_ client: Client, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE clients SET name = \(client.name), redirect_uris = \(client.storedURIs),
                custody = \(client.kind.custody.rawValue), grant_types = \(client.storedGrants),
                scope = \(client.scope), first_party = \(client.kind.isFirstParty),
                spid_compatible = \(client.kind.isSPiDCompatible),
                rotates_refresh_tokens = \(client.rotatesRefreshTokens),
                access_token_lifetime = \(client.accessTokenLifetime.milliseconds),
                refresh_token_lifetime = \(client.refreshTokenLifetime.milliseconds),
                refresh_family_lifetime = \(client.refreshFamilyLifetime.stored),
                refresh_repeat_window = \(client.refreshRepeatWindow.milliseconds),
                refresh_leeway = \(client.chosenRefreshLeeway?.milliseconds),
                requires_pkce = \(client.requiresPKCE),
                web_origins = \(client.storedOrigins), post_logout_redirect_uris = \(client.storedLogoutURIs),
                callback_uri = \(client.callbackURI), requires_verified_email = \(client.requiresVerifiedEmail),
                signs_responses = \(client.signsResponses), terms_uri = \(client.termsURI),
                terms_changed_at = \(client.termsChangedAt), openid = \(client.storedOpenID),
                spid = \(client.storedSPiD), scope_limit = \(client.scopeLimit),
                grant_limit = \(client.grantLimit.map(Client.stored)), updated_at = \(client.updatedAt),
                disabled_at = \(client.disabledAt)
            WHERE id = \(client.id)
            """)
    }
}

extension Client {
    fileprivate var storedURIs: String { redirectURIs.map(\.text).joined(separator: "\n") }
    fileprivate var storedOrigins: String { webPages.map(\.text).joined(separator: "\n") }
    fileprivate var storedLogoutURIs: String { postLogoutRedirectURIs.map(\.text).joined(separator: "\n") }
    fileprivate var storedOpenID: String {
        openID == OpenIDSettings() ? "{}" : JSON.object(openID.members).text
    }
    fileprivate var storedSPiD: String { spid == SPiDSettings() ? "{}" : JSON.object(spid.members).text }
    fileprivate var storedGrants: String { Self.stored(grantTypes) }
    fileprivate static func stored(_ grants: Set<GrantType>) -> String {
        grants.map(\.name).sorted().joined(separator: "\n")
    }
}
