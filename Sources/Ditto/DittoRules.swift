import Directory
import OAuth

/// Whom a webhook lets in, and what it answers.
public struct DittoRules: Sendable {
    /// What an app may hand to Ditto as its token.
    public enum TokenKind: String, Sendable, CaseIterable {
        case opaqueAccessToken = "access_token"
        case jwtAccessToken = "jwt_access_token"
        case idToken = "id_token"
    }

    /// The webhook's name in Ditto's portal, if requests must name it.
    let provider: String?
    /// The app, or database, that requests must name.
    let database: String?
    let tokens: Set<TokenKind>
    /// Whose tokens are taken; those of the merchant's own clients when empty.
    let clients: [Client.ID]
    /// Whom an access token may be meant for (RFC 8707); us alone when empty.
    let audiences: [String]
    /// What an access token must cover.
    let scope: Scope
    let permissions: DittoPermissions
    /// How long Ditto may let somebody in, if the token lives that long.
    let longest: Duration
    /// The HTTP status of the answer that lets nobody in.
    public let refusalStatus: Int
    let constants: DittoConstants

    func takes(_ kind: TokenKind) -> Bool { tokens.contains(kind) }

    func takes(tokensOf client: Client.ID, isFirstParty: Bool) -> Bool {
        clients.isEmpty ? isFirstParty : clients.contains(client)
    }

    func takes(audience: String, issuer: String) -> Bool {
        audiences.isEmpty ? audience == issuer : audiences.contains(audience)
    }
}
