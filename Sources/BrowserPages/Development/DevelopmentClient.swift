public import HTTPSupport
import OAuth

/// The built-in client of a server in development mode, for developers who have no client yet.
public enum DevelopmentClient {
    public static let id = "dev"
    public static let scope = "openid profile email address phone offline_access"
    /// The page that shows its answers.
    static let answerPath = "/development/answer"

    public static func redirectURI(at site: Site) -> String { site.origin + answerPath }

    /// Its authorization request, which asks for a new sign-in each time.
    public static func request(at site: Site) -> String {
        let items: [Form.Pair] = [
            ("response_type", "code"), ("client_id", id), ("redirect_uri", redirectURI(at: site)),
            ("scope", "openid profile email offline_access"), ("code_challenge", challenge),
            ("code_challenge_method", "S256"), ("prompt", "login"),
        ]
        return "\(site.origin)\(AuthorizeEndpoint.path)?\(items.encoded)"
    }

    /// The shell command that redeems `code`.
    static func command(for code: String, at site: Site) -> String {
        let form = [
            "grant_type=authorization_code", "client_id=\(id)", "redirect_uri=\(redirectURI(at: site))",
            "code_verifier=\(verifier)", "code=\(code)",
        ]
        return (["curl \(site.tokenEndpoint)"] + form.map { "-d \($0)" }).joined(separator: " \\\n  ")
    }

    // The pair of RFC 7636 appendix B: an action that is open to anyone needs no secret.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
}
