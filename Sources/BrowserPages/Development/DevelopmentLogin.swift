import HTTPSupport
import OAuth
import Pages
import Values

/// The sign-in for developers (`spindle serve --dev`), in place of the login page.
struct DevelopmentLogin: Sendable {
    /// Parameters of a trial in an authorization request. They are not OAuth parameters, and mean nothing elsewhere.
    enum Field: String {
        case idTokenLifetime = "development_id_token_lifetime"
        case refreshToken = "development_refresh_token"
    }

    /// `/login?page=people` shows the login page that users see.
    static let forUsers = "people"

    /// The address of the sign-in for the request of `interaction`.
    func way(to interaction: Interaction) -> String {
        way(for: Form(pairs: [("continue", interaction.id.value)]))
    }

    /// The address of the sign-in that replaces the login page with this query.
    func way(for query: Form) -> String { "\(DevelopmentSignInEndpoint.path)?\(query.pairs.encoded)" }

    /// The trial that the authorization request in `form` asks for.
    func trial(_ form: Form) throws(OAuthError) -> TokenTrial? {
        let (lifetime, refresh) = (form[Field.idTokenLifetime], form[Field.refreshToken])
        guard lifetime != nil || refresh != nil else { return nil }
        guard let trial = TokenTrial(seconds: lifetime ?? "", givesRefreshToken: refresh != "0") else {
            throw OAuthError(
                .invalidRequest, "development_lifetime",
                "\(Field.idTokenLifetime.rawValue) must be a number of seconds from 1 to \(TokenTrial.longest).")
        }
        return trial
    }
}

extension PageRenderer {
    /// The sign-in that replaces the login page in development mode: only with pages that show the banner.
    var development: DevelopmentLogin? { templates.isDevelopment ? DevelopmentLogin() : nil }
}

extension TokenTrial {
    static let longest = lifetimes.upperBound

    /// The lifetime as typed: an empty text stands for the client's own.
    init?(seconds text: String, givesRefreshToken: Bool) {
        guard !text.isEmpty else {
            self.init(givesRefreshToken: givesRefreshToken)
            return
        }
        guard let seconds = Int64(text) else { return nil }
        self.init(idTokenLifetime: .seconds(seconds), givesRefreshToken: givesRefreshToken)
    }
}

extension Form {
    subscript(field: DevelopmentLogin.Field) -> String? { self[field.rawValue] }
}
