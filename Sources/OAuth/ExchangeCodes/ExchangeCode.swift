import Directory
import Values

/// A one-time code bought with a user's token: for a backend (type=code) or for a webview (type=session).
public struct ExchangeCode: Sendable {
    public enum Kind: String, Sendable {
        case code
        case session

        /// Exact to the millisecond, by the server's clock.
        public var lifetime: Duration {
            switch self {
            case .code: .seconds(30)
            case .session: .seconds(60)
            }
        }
    }

    let kind: Kind
    /// The token family whose token bought the code.
    let source: TokenFamily.ID
    /// The client that may redeem the code, or whose redirect URI a session code is bound to.
    let client: Client.ID
    public let subject: Subject
    let scope: Scope
    let redirectURI: RedirectURI?
    let expiresAt: Timestamp

    /// Checks every binding of a redemption. The redirect URI must be one that the receiving client registered; the
    /// code is bound to a particular one only if the app said so. PKCE plays no part, because nobody made a challenge.
    func check(client: Client, redirectURI: String?, hasVerifier: Bool) throws(OAuthError) {
        guard kind == .code else { throw .codeRefused("session_code_at_token_endpoint") }
        guard self.client == client.id else { throw .codeRefused("code_of_another_client") }
        // It may have been changed since the code was sold.
        guard !client.isPublic || !client.spid.publicExchangeCodesFrom.isEmpty else {
            throw .codeRefused("public_receiver")
        }
        guard let redirectURI else { throw .missing(.redirectURI) }
        let bound = client.redirectURIs.filter { self.redirectURI?.isExactly($0.text) ?? true }
        guard bound.contains(where: { client.means($0, by: redirectURI) }) else {
            throw .codeRefused("redirect_uri_mismatch")
        }
        guard !hasVerifier else { throw .codeRefused("verifier_without_challenge") }
    }
}
