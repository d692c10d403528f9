import Directory
import Values

/// A one-time code for a backend (type=code), bought with a user's token. It is not stored: its text carries all of
/// this, sealed (`ExchangeCode+sealing.swift`). A redeemed code has a token family with its id.
public struct ExchangeCode: Sendable {
    /// What a user's token buys: a code for a backend, or one that opens a session in a webview.
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

    /// Begins with the time of the sale.
    let id: Identifier<ExchangeCode>
    /// The token family whose token bought the code.
    let source: TokenFamily.ID
    /// The client that may redeem it.
    let client: Client.ID
    let subject: Subject
    let scope: Scope
    let redirectURI: RedirectURI?

    /// 1970 if the id contains no time, which counts as expired.
    var soldAt: Timestamp { id.time ?? Timestamp(milliseconds: 0) }
    var expiresAt: Timestamp { soldAt + Kind.code.lifetime }
    /// The token family that its redemption makes.
    var family: TokenFamily.ID { TokenFamily.ID(id.text) }

    /// Checks every binding of a redemption. The redirect URI must be one that the receiving client registered; the
    /// code is bound to a particular one only if the app said so. There is no PKCE, because no authorization request
    /// made a challenge.
    func check(client: Client, redirectURI: String?, hasVerifier: Bool) throws(OAuthError) {
        guard self.client == client.id else { throw .codeRefused("code_of_another_client") }
        // The receiver may have been changed since the code was sold.
        guard client.may(.redeemExchangeCodes) else { throw .codeRefused("third_party_receiver") }
        guard client.exchangeCodeSources?.isEmpty != true else { throw .codeRefused("public_receiver") }
        guard let redirectURI else { throw .missing(.redirectURI) }
        let bound = client.redirectURIs.filter { self.redirectURI?.isExactly($0.text) ?? true }
        guard bound.contains(where: { client.means($0, by: redirectURI) }) else {
            throw .codeRefused("redirect_uri_mismatch")
        }
        guard !hasVerifier else { throw .codeRefused("verifier_without_challenge") }
    }
}
