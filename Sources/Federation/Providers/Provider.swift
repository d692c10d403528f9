import JOSE

/// Who besides us knows people, and is known to us: what an operator need not say about it.
public enum Provider: String, Sendable, CaseIterable {
    case facebook, google, apple

    /// Its issuer in OpenID Connect: an ID token of it and an access token of it lead to the same person.
    public var issuer: String {
        switch self {
        case .facebook: "https://www.facebook.com"
        case .google: "https://accounts.google.com"
        case .apple: "https://appleid.apple.com"
        }
    }

    /// How else it writes its name into `iss`.
    var aliases: [String] {
        switch self {
        // Facebook's Limited Login has a host of its own.
        case .facebook: ["https://limited.facebook.com"]
        case .google: ["accounts.google.com"]
        case .apple: []
        }
    }

    /// The provider that writes its name so, if it is not its first one.
    init?(alias: String) {
        guard let provider = Self.allCases.first(where: { $0.aliases.contains(alias) }) else { return nil }
        self = provider
    }

    /// What people call it.
    public var name: String {
        switch self {
        case .facebook: "Facebook"
        case .google: "Google"
        case .apple: "Apple"
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

extension Provider {
    /// Where it publishes the keys of its ID tokens.
    var keys: TrustedIssuer.KeySource {
        switch self {
        // Limited Login; there is no discovery document whose issuer is the one in its tokens.
        case .facebook: .address("https://limited.facebook.com/.well-known/oauth/openid/jwks/")
        case .google: .discovery("https://accounts.google.com/.well-known/openid-configuration")
        case .apple: .discovery("https://appleid.apple.com/.well-known/openid-configuration")
        }
    }

    var algorithms: Set<SignatureAlgorithm> { [.rs256] }

    var rules: IssuerRules {
        switch self {
        // Its SDK always sends one.
        case .facebook: IssuerRules(nonce: .required)
        case .google: IssuerRules()
        // What its documents have a native app hand over is the hash.
        case .apple: IssuerRules(nonceTransform: .sha256)
        }
    }
}

/// A merchant's app at a provider: whose access tokens are taken.
public struct ProviderApp: Sendable, Equatable {
    public let provider: Provider
    /// What its apps call themselves in the `iss` of SPiD's SDKs, besides the ids that their tokens are issued to.
    public var names: [String]
    /// What Facebook wants to be asked with, sealed for the issuer's row.
    public var sealedSecret: String?
}
