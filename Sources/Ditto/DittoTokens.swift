public import Authentication
public import Directory
import JSON
public import OAuth
public import OpenID
import Values

/// Finds the user of a token that an app gave to Ditto.
public struct DittoTokens: Sendable {
    private let accessTokens: AccessTokens
    private let hints: IDTokenHints
    private let clients: Clients
    private let names: SubjectIdentifiers
    private let users: Users
    private let families: TokenFamilies
    private let issuer: String

    public init(
        accessTokens: AccessTokens, hints: IDTokenHints, clients: Clients, names: SubjectIdentifiers,
        users: Users, families: TokenFamilies, issuer: String
    ) {
        self.accessTokens = accessTokens
        self.hints = hints
        self.clients = clients
        self.names = names
        self.users = users
        self.families = families
        self.issuer = issuer
    }

    /// The user of the token `text`, if `webhook` accepts it.
    func user(of text: String, for webhook: DittoWebhook, by rules: DittoRules, at now: Timestamp) async throws
        -> DittoUser
    {
        let isJWT = text.contains(".")
        if isJWT, let idToken = try await hints.read(text) {
            return try await user(of: idToken, for: webhook, by: rules, at: now)
        }
        guard rules.takes(isJWT ? .jwtAccessToken : .opaqueAccessToken) else {
            throw OAuthError.tokenRefused("ditto_token_kind")
        }
        // A JWT access token is stored like any other, and ends like any other.
        return try await user(
            of: try await accessTokens.present(Secret(text), toMerchant: webhook.merchant), by: rules)
    }

    private func user(of token: AccessToken, by rules: DittoRules) async throws -> DittoUser {
        guard let user = token.user else { throw OAuthError.userTokenNeeded }
        guard rules.takes(tokensOf: token.client, isUsual: token.may(.passWebhooks)) else {
            throw OAuthError.tokenRefused("ditto_client")
        }
        guard rules.takes(audience: token.resource ?? issuer, issuer: issuer) else {
            throw OAuthError.tokenRefused("ditto_audience")
        }
        for scope in rules.scope.tokens { try token.require(scope) }
        guard let client = try await clients.findLive(token.client) else {
            throw OAuthError.tokenRefused("client_disabled")
        }
        var attributes: JSON = .object([])
        // Attributes are for first-party clients: no page asks a third party's users for them.
        if rules.permissions.namesAttributes, token.may(.takeAttributes) {
            guard let found = try await users.find(user) else { throw OAuthError.tokenRefused("user_deleted") }
            attributes = found.attributes
        }
        return DittoUser(
            subject: try await names.subject(user, for: client), attributes: attributes, expiresAt: token.expiresAt)
    }

    private func user(
        of token: IDTokenHint, for webhook: DittoWebhook, by rules: DittoRules, at now: Timestamp
    ) async throws -> DittoUser {
        let client = token.client
        guard rules.takes(.idToken) else { throw OAuthError.tokenRefused("ditto_token_kind") }
        guard Merchant.same(webhook.merchant, client.merchant) else {
            throw OAuthError.tokenRefused("token_of_another_merchant")
        }
        guard rules.takes(tokensOf: client.id, isUsual: client.may(.passWebhooks)) else {
            throw OAuthError.tokenRefused("ditto_client")
        }
        guard client.scope.contains(Scope.openID) else { throw OAuthError.tokenRefused("ditto_client_without_openid") }
        // A holder of the client's sign secret could name any user in it.
        guard token.isOursAlone else { throw OAuthError.tokenRefused("ditto_shared_secret") }
        guard now < token.expiresAt else { throw OAuthError.tokenRefused("expired_token") }
        // A pairwise subject does not lead to the user, so their standing could not be checked.
        guard client.openID.subjectType == .public, let user = try await users.id(ofSubject: token.subject) else {
            throw OAuthError.tokenRefused("ditto_pairwise_id_token")
        }
        guard let found = try await users.find(user), found.disabledAt == nil, found.deletionDueAt == nil else {
            throw OAuthError.tokenRefused("user_gone")
        }
        let isSignedOut = try await families.hasSignedOut(
            user, of: client.id, since: token.issuedAt, session: token.session)
        guard !isSignedOut else {
            throw OAuthError.tokenRefused("signed_out")
        }
        return DittoUser(
            subject: token.subject, attributes: client.may(.takeAttributes) ? found.attributes : .object([]),
            expiresAt: token.expiresAt)
    }
}

/// A user at Ditto, as the token describes them.
struct DittoUser: Sendable {
    /// The subject identifier that the app knows: `sub` of its ID tokens.
    let subject: String
    let attributes: JSON
    /// When the user's token expires.
    let expiresAt: Timestamp

    /// The texts of an attribute, which may be one text or a list.
    func texts(of attribute: String) -> [String] {
        let value = attributes[attribute]
        return value?.strings ?? (value?.string).map { [$0] } ?? []
    }
}
