/// What it takes to send people to an issuer and have them come back: we are a client of it.
public struct SignInSettings: Sendable, Equatable {
    /// Our name there.
    public let clientID: String
    /// Our secret there, sealed for the issuer's row. Facebook has the one of its app, and this is nil.
    public let sealedClientSecret: String?
    /// What people call the issuer: the text of the button.
    public let name: String
    /// What is asked of it.
    public let scope: String

    static let usualScope = "openid email profile"
    static let facebookScope = "public_profile email"
}
