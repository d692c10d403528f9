/// What we need to let users sign in at an issuer: we are a client of it.
public struct SignInSettings: Sendable, Equatable {
    /// Our client id there.
    public let clientID: String
    /// Our client secret there, sealed for the issuer's row. Nil for Facebook, which uses the secret of its app.
    public let sealedClientSecret: String?
    /// The name of the issuer for users: the text of the button.
    public let name: String
    /// The scope that we request.
    public let scope: String

    static let usualScope = "openid email profile"
    static let facebookScope = "public_profile email"
}
