public import Identity
public import OAuth
import Values

extension SignIn.Refusal {
    /// The same refusal in the words of the token endpoint.
    public var oauthError: OAuthError {
        switch self {
        case .wrong(let reason): .wrongUserCredentials(reason)
        case .throttled(let wait): .tooManySignIns(wait)
        case .overloaded: .signInsOverloaded
        }
    }

    /// The same refusal in the words of a page.
    var sentence: String {
        switch self {
        case .wrong: "The e-mail address or the password is wrong."
        case .throttled(let wait):
            "Too many attempts. Please wait \(max(1, (wait.milliseconds + 999) / 1000)) seconds and try again."
        case .overloaded: "Too many people are signing in just now. Please try again in a moment."
        }
    }
}
