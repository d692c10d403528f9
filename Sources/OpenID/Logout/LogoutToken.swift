import Directory
import JSON
import OAuth
import Values

/// A logout token (Back-Channel Logout §2.4), before it is signed.
struct LogoutToken: Sendable {
    let issuer: String
    let subject: String
    let client: Client.ID
    /// Always set, whether or not the client requires it: without it, the token would mean every session of the user.
    let session: String
    let issuedAt: Timestamp
    let id: String

    static let type = "logout+jwt"
    private static let event = "http://schemas.openid.net/event/backchannel-logout"
    /// §2.4 recommends two minutes at most. The token is signed when it is sent.
    private static let lifetime: Duration = .minutes(2)

    func signed(by signer: IDTokenSigner) -> String { signer.sign(json, type: Self.type) }

    /// Never with a nonce, so that it cannot be mistaken for an ID token.
    private var json: JSON {
        .members([
            "iss": .string(issuer), "sub": .string(subject), "aud": .string(client.text),
            "iat": .integer(issuedAt.seconds), "exp": .integer((issuedAt + Self.lifetime).seconds),
            "jti": .string(id), "events": .object([.init(Self.event, .object([]))]), "sid": .string(session),
        ])
    }
}
