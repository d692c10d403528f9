import Directory
import OAuth

/// Which users a webhook admits, and what it answers.
public struct DittoRules: Sendable {
    /// The kinds of token that an app may give Ditto.
    public enum TokenKind: String, Sendable, CaseIterable {
        case opaqueAccessToken = "access_token"
        case jwtAccessToken = "jwt_access_token"
        case idToken = "id_token"
    }

    /// The webhook's name in Ditto's portal, if requests must name it.
    let provider: String?
    /// The app or database that requests must name, if any.
    let database: String?
    let tokens: Set<TokenKind>
    /// The clients whose tokens are accepted; empty means the merchant's first-party clients.
    let clients: [Client.ID]
    /// The accepted audiences of an access token (RFC 8707); empty means this server only.
    let audiences: [String]
    /// The scope that an access token must have.
    let scope: Scope
    let permissions: DittoPermissions
    /// How long Ditto may admit a user, if the token lives that long.
    let longest: Duration
    /// Whether Ditto may admit a user for `longest` even when the token ends before.
    let outlivesToken: Bool
    /// The HTTP status of a refusal.
    public let refusalStatus: Int
    let constants: DittoConstants

    func takes(_ kind: TokenKind) -> Bool { tokens.contains(kind) }

    func takes(tokensOf client: Client.ID, isUsual: Bool) -> Bool {
        clients.isEmpty ? isUsual : clients.contains(client)
    }

    func takes(audience: String, issuer: String) -> Bool {
        audiences.isEmpty ? audience == issuer : audiences.contains(audience)
    }
}
