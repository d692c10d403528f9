import JOSE

/// A well-known identity provider, with everything that an operator need not configure.
public enum Provider: String, Sendable, CaseIterable {
    case facebook, google, apple

    /// Its issuer in OpenID Connect: its ID tokens and its access tokens lead to the same user.
    public var issuer: String {
        switch self {
        case .facebook: "https://www.facebook.com"
        case .google: "https://accounts.google.com"
        case .apple: "https://appleid.apple.com"
        }
    }

    /// Other names that it uses in `iss`.
    var aliases: [String] {
        switch self {
        // Facebook's Limited Login has its own host.
        case .facebook: ["https://limited.facebook.com"]
        case .google: ["accounts.google.com"]
        case .apple: []
        }
    }

    /// The provider that uses this name in `iss` besides its first one.
    init?(alias: String) {
        guard let provider = Self.allCases.first(where: { $0.aliases.contains(alias) }) else { return nil }
        self = provider
    }

    /// Its name for users.
    public var name: String {
        switch self {
        case .facebook: "Facebook"
        case .google: "Google"
        case .apple: "Apple"
        }
    }

    /// The provider with this `token_type` in SPiD's SDKs.
    init?(tokenType: String) {
        switch tokenType {
        case "facebook": self = .facebook
        case "googleplus": self = .google
        default: return nil
        }
    }
}

extension Provider {
    /// Where it publishes the keys of its ID tokens.
    var keys: TrustedIssuer.KeySource {
        switch self {
        // Limited Login: no discovery document has the issuer that its tokens name.
        case .facebook: .address("https://limited.facebook.com/.well-known/oauth/openid/jwks/")
        case .google: .discovery("https://accounts.google.com/.well-known/openid-configuration")
        case .apple: .discovery("https://appleid.apple.com/.well-known/openid-configuration")
        }
    }

    var algorithms: Set<SignatureAlgorithm> { [.rs256] }

    var rules: IssuerRules {
        switch self {
        // Its SDK always sends a nonce.
        case .facebook: IssuerRules(nonce: .required)
        case .google: IssuerRules()
        // Apple's documentation has native apps pass the hash of the nonce.
        case .apple: IssuerRules(nonceTransform: .sha256)
        }
    }
}

/// A merchant's app at a provider, whose access tokens are accepted.
public struct ProviderApp: Sendable, Equatable {
    public let provider: Provider
    /// What its apps call themselves in the `iss` of SPiD's SDKs, besides the ids that their tokens are issued to.
    public var names: [String]
    /// The app secret, required in requests to Facebook, sealed for the issuer's row.
    public var sealedSecret: String?
}
