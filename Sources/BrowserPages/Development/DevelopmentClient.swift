public import Directory
public import HTTPSupport
public import Values

/// The clients of a server in development mode, one of each kind, for developers who have no client yet.
public enum DevelopmentClient: String, CaseIterable, Sendable {
    case app = "dev"
    case backend = "dev_backend"
    case machine = "dev_machine"
    case administrator = "dev_admin"
    case gateway = "sync_gateway"

    public static let scope = "openid profile email address phone offline_access"
    /// The page that shows its answers.
    static let answerPath = "/development/answer"

    public var id: Client.ID { Client.ID(rawValue) }

    /// The redirect URI of the page that shows answers; nil for a client that gets none there. An answer does not name
    /// its client, so the address does.
    public func redirectURI(at site: Site) -> String? {
        switch self {
        case .app: site.origin + Self.answerPath
        case .backend: "\(site.origin)\(Self.answerPath)?client_id=\(rawValue)"
        case .machine, .administrator, .gateway: nil
        }
    }

    /// Its authorization request, which asks for a new sign-in each time.
    public func request(at site: Site) -> String? {
        guard let redirectURI = redirectURI(at: site) else { return nil }
        let items: [Form.Pair] = [
            ("response_type", "code"), ("client_id", rawValue), ("redirect_uri", redirectURI),
            ("scope", "openid profile email offline_access"), ("code_challenge", Self.challenge),
            ("code_challenge_method", "S256"), ("prompt", "login"),
        ]
        return "\(site.origin)\(AuthorizeEndpoint.path)?\(items.encoded)"
    }

    /// The token request that redeems `code`, an answer to that request.
    func redemption(of code: String, at site: Site) -> [Form.Pair] {
        [
            ("grant_type", "authorization_code"), ("redirect_uri", redirectURI(at: site) ?? ""),
            ("code_verifier", Self.verifier), ("code", code),
        ]
    }

    // The pair of RFC 7636 appendix B: an action that is open to anyone needs no secret.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
}

extension DevelopmentClient {
    var kind: String {
        switch self {
        case .app: "public"
        case .backend: "confidential"
        case .machine: "machine to machine"
        case .administrator: "administrator"
        case .gateway: "Couchbase Sync Gateway"
        }
    }

    var use: String {
        switch self {
        case .app: "For an app on a phone or a desktop, or a single page: no secret, with PKCE."
        case .backend: "For a web app with a server, and for an API that introspects tokens."
        case .machine: "Gets tokens for itself, without a user."
        case .administrator: "Its token may do everything in administration."
        case .gateway: "For Sync Gateway on this machine: without PKCE, with any secret."
        }
    }

    /// A command to begin with. `secret` is of letters, digits, hyphens and underscores.
    func snippet(_ secret: String?, at site: Site, administration: String) -> String? {
        let user = secret.map { "\(rawValue):\($0)" }
        switch (self, user) {
        case (.backend, let user?):
            return "curl \(site.origin)/oauth/introspect \\\n  -u \(user) \\\n  -d token=ACCESS_TOKEN"
        case (.machine, let user?):
            return "curl \(site.tokenEndpoint) \\\n  -u \(user) \\\n  -d grant_type=client_credentials"
        case (.administrator, let user?):
            return """
                token=$(curl -s \(site.tokenEndpoint) \\
                  -u \(user) \\
                  -d grant_type=client_credentials -d scope=admin |
                  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
                curl \(administration)/admin/v1/clients -H "Authorization: Bearer $token"
                """
        case (.gateway, _):
            return """
                {"oidc": {"default_provider": "spindle", "providers": {"spindle": {
                  "issuer": "\(site.issuer)", "client_id": "\(rawValue)", "validation_key": "any",
                  "callback_url": "http://localhost:4984/db/_oidc_callback", "register": true,
                  "scope": ["openid", "email", "offline_access"], "username_claim": "sub", "user_prefix": "p"}}}}
                """
        default: return nil
        }
    }
}
