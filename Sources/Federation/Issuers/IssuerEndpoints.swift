/// Where an issuer has people sign in, and codes redeemed.
public struct IssuerEndpoints: Sendable, Equatable {
    public let authorization: String
    public let token: String
    public let userinfo: String?
    /// How it wants us to show our secret (OpenID Connect Core §9).
    public let authenticationMethods: [String]
    public let authenticationAlgorithms: [String]?
    /// Whether its answers name it (RFC 9207).
    public let namesItself: Bool

    /// Nil when `document` lacks an address: an issuer may have nothing but tokens to verify.
    init?(_ document: IssuerDocument) {
        guard let authorization = document.authorizationEndpoint, let token = document.tokenEndpoint else { return nil }
        self.authorization = authorization
        self.token = token
        userinfo = document.userinfoEndpoint
        authenticationMethods = document.authenticationMethods
        authenticationAlgorithms = document.authenticationAlgorithms
        namesItself = document.namesItself
    }

    /// Facebook's OAuth, which has no document.
    init(facebook: String) {
        authorization = "https://www.facebook.com/dialog/oauth"
        token = facebook + "/oauth/access_token"
        userinfo = nil
        authenticationMethods = ["client_secret_post"]
        authenticationAlgorithms = nil
        namesItself = false
    }
}
