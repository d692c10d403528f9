/// Who besides us knows people, and gives apps access tokens of its own that we can ask about.
public enum Provider: String, Sendable, CaseIterable {
    case facebook, google

    /// Its issuer in OpenID Connect: an ID token of it and an access token of it lead to the same person.
    public var issuer: String {
        switch self {
        case .facebook: "https://www.facebook.com"
        case .google: "https://accounts.google.com"
        }
    }

    /// What people call it.
    public var name: String {
        switch self {
        case .facebook: "Facebook"
        case .google: "Google"
        }
    }

    /// What SPiD's SDKs call it in `token_type`.
    init?(tokenType: String) {
        switch tokenType {
        case "facebook": self = .facebook
        case "googleplus": self = .google
        default: return nil
        }
    }
}

/// A merchant's app at a provider: whose access tokens are taken.
public struct ProviderApp: Sendable {
    public let provider: Provider
    /// What its apps call themselves in the `iss` of SPiD's SDKs, besides the ids that their tokens are issued to.
    public var names: [String]
    /// What Facebook wants to be asked with, sealed for the issuer's row.
    public var sealedSecret: String?
}
