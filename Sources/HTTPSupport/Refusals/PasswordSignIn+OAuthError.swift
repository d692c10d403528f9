public import Authentication
import Cryptography
public import OAuth
package import Pages
import Values

extension PasswordSignIn.Refusal {
    /// The same refusal as an error of the token endpoint.
    public var oauthError: OAuthError {
        switch self {
        case .wrong(let reason): .wrongUserCredentials(reason)
        case .throttled(let wait): .tooManySignIns(wait)
        case .overloaded: .signInsOverloaded
        }
    }

    /// The same refusal as a page shows it.
    package var onPage: PageRefusal {
        switch self {
        case .wrong: .wrongCredentials
        case .throttled(let wait): .tooManyAttempts(seconds: wait.wholeSeconds)
        case .overloaded: .overloaded
        }
    }
}

extension Duration {
    /// Whole seconds, rounded up, and at least one: how long a user is asked to wait.
    package var wholeSeconds: Int { Int(max(1, (milliseconds + 999) / 1000)) }
}
