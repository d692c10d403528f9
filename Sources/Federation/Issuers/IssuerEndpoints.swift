/// The endpoints of an issuer where users sign in and codes are redeemed.
public struct IssuerEndpoints: Sendable, Equatable {
    public let authorization: String
    public let token: String
    public let userinfo: String?
    /// How we may authenticate at the token endpoint (OpenID Connect Core §9).
    public let authenticationMethods: [String]
    public let authenticationAlgorithms: [String]?
    /// Whether its authorization responses carry `iss` (RFC 9207).
    public let namesItself: Bool

    /// Nil when `document` lacks an endpoint: some issuers have only tokens to verify.
    init?(_ document: IssuerDocument) {
        guard let authorization = document.authorizationEndpoint, let token = document.tokenEndpoint else { return nil }
        self.authorization = authorization
        self.token = token
        userinfo = document.userinfoEndpoint
        authenticationMethods = document.authenticationMethods
        authenticationAlgorithms = document.authenticationAlgorithms
        namesItself = document.namesItself
    }

    /// The endpoints of Facebook's OAuth, which has no discovery document.
    init(facebook: String) {
        authorization = "https://www.facebook.com/dialog/oauth"
        token = facebook + "/oauth/access_token"
        userinfo = nil
        authenticationMethods = ["client_secret_post"]
        authenticationAlgorithms = nil
        namesItself = false
    }
}
