import Directory
import JSON
import Keys
public import OAuth
public import Values

/// Mints bearer tokens, with an ID token for the scope `openid` (OpenID Connect Core §3.1.3.3, §12.2). `IDToken` writes
/// the claims of an ID token.
public struct IDTokenMint: TokenMint {
    private let bearer: BearerTokenMint
    private let ids: IDTokens
    private let clock: any WallClock

    public init(bearer: BearerTokenMint, ids: IDTokens, clock: any WallClock) {
        self.bearer = bearer
        self.ids = ids
        self.clock = clock
    }

    public func tokens(for authorization: Authorization) async throws -> TokenResponse? {
        guard let subject = authorization.subject, authorization.scope.contains(Scope.openID) else {
            return try await bearer.tokens(for: authorization)
        }
        // Everything that can fail comes before the redemption, so that no code is spent without a response.
        let draft = try await ids.draft(
            of: subject, for: authorization.client, scope: authorization.scope, asked: authorization.request)
        guard var response = try await bearer.tokens(for: authorization) else { return nil }
        response.idToken = draft.signed(at: response.issuedAt, accessToken: response.accessToken.value)
        return response
    }
}
