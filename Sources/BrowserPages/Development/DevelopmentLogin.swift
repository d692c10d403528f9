import HTTPSupport
import OAuth
import Pages
import Values

/// The way in for who tries things out (`spindle serve --dev`), in the place of the login page.
struct DevelopmentLogin: Sendable {
    /// What an authorization request may say of a trial. No parameters of OAuth's: anywhere else they mean nothing.
    enum Field: String {
        case idTokenLifetime = "development_id_token_lifetime"
        case refreshToken = "development_refresh_token"
    }

    /// `/login?page=people` shows the page that people see.
    static let forPeople = "people"

    /// The sign-in that goes on with the request of `interaction`.
    func way(to interaction: Interaction) -> String {
        way(for: Form(pairs: [("continue", interaction.id.value)]))
    }

    /// The sign-in in the place of the login page with this query.
    func way(for query: Form) -> String { "\(DevelopmentSignInEndpoint.path)?\(query.pairs.encoded)" }

    /// What the authorization request in `form` tries out.
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
    /// The way in that takes the place of the login page in development mode: never without pages that say so.
    var development: DevelopmentLogin? { templates.isDevelopment ? DevelopmentLogin() : nil }
}

extension TokenTrial {
    static let longest = lifetimes.upperBound

    /// As it is typed: no seconds are the client's own.
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
