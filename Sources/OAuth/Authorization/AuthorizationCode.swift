import Directory
import Values

/// A one-time code of the authorization code grant (RFC 6749 §4.1.2), with everything it is bound to.
public struct AuthorizationCode: Sendable {
    let client: Client.ID
    let subject: Subject
    /// The sign-in under which the user allowed the code.
    let signIn: SignIn
    let request: AuthenticationRequest
    let scope: Scope
    let redirectURI: RedirectURI
    let redirectURISent: Bool
    let challenge: CodeChallenge?
    let expiresAt: Timestamp
    /// The path of the token family that bought the session in which the code was issued, if one did.
    let buyer: TokenFamily.Path?

    public static let lifetime: Duration = .seconds(60)

    /// Checks every binding, in the order of RFC 6749 §4.1.3 and RFC 7636 §4.6, and that the client still has the
    /// redirect URI. Expiry and single use are checked later, so that another client's request can neither spend nor
    /// revoke the code.
    func check(client: Client, redirectURI: String?, verifier: CodeVerifier?) throws(OAuthError) {
        guard self.client == client.id else { throw .codeRefused("code_of_another_client") }
        guard client.returnURI(self.redirectURI.text, besides: nil) != nil else {
            throw .codeRefused("redirect_uri_removed")
        }
        guard redirectURI != nil || !redirectURISent else { throw .missing(.redirectURI) }
        guard redirectURI.map({ client.means(self.redirectURI, by: $0) }) ?? true else {
            throw .codeRefused("redirect_uri_mismatch")
        }
        switch (challenge, verifier) {
        case (nil, nil): return
        // RFC 9700 §2.1.1: a verifier without a challenge is the sign of a downgrade.
        case (nil, .some): throw .codeRefused("verifier_without_challenge")
        case (.some, nil): throw .missing(.codeVerifier)
        case (let challenge?, let verifier?):
            guard challenge.isProven(by: verifier) else { throw .codeRefused("wrong_verifier") }
        }
    }
}
