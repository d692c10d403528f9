import Directory
import Values

/// A one-time code bought with a person's token: for a backend (type=code) or for a webview (type=session).
public struct ExchangeCode: Sendable {
    public enum Kind: String, Sendable {
        case code
        case session

        /// To the millisecond, by the server's clock.
        public var lifetime: Duration {
            switch self {
            case .code: .seconds(30)
            case .session: .seconds(60)
            }
        }
    }

    let kind: Kind
    /// The permission whose token bought it.
    let source: TokenFamily.ID
    /// The client that may redeem it, or whose redirect URI a session code is bound to.
    let client: Client.ID
    public let subject: Subject
    let scope: Scope
    let redirectURI: RedirectURI?
    let expiresAt: Timestamp

    /// Every binding of a redemption. The redirect URI is one the receiver registered; the code itself was not bound
    /// to one unless the app said so. PKCE plays no part: nobody made a challenge.
    func check(client: Client, redirectURI: String?, hasVerifier: Bool) throws(OAuthError) {
        guard kind == .code else { throw .codeRefused("session_code_at_token_endpoint") }
        guard self.client == client.id else { throw .codeRefused("code_of_another_client") }
        guard let redirectURI else { throw .missing(.redirectURI) }
        let bound = client.redirectURIs.filter { self.redirectURI?.isExactly($0.text) ?? true }
        guard bound.contains(where: { client.means($0, by: redirectURI) }) else {
            throw .codeRefused("redirect_uri_mismatch")
        }
        guard !hasVerifier else { throw .codeRefused("verifier_without_challenge") }
    }
}
