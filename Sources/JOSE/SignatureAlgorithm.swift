import Cryptography

/// The signature algorithms accepted in other issuers' JWTs (RFC 7518 §3.1, RFC 8037). `none` is not among them.
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"

    /// Whether it takes a shared secret rather than a public key.
    public var isSymmetric: Bool { self == .hs256 || self == .hs384 || self == .hs512 }
}

extension SignatureAlgorithm {
    /// How the algorithm verifies.
    enum Method {
        case signature(SignatureScheme)
        case hmac(Digest.Function)
    }

    var method: Method {
        switch self {
        case .rs256: .signature(.pkcs1(.sha256))
        case .rs384: .signature(.pkcs1(.sha384))
        case .rs512: .signature(.pkcs1(.sha512))
        case .ps256: .signature(.pss(.sha256))
        case .ps384: .signature(.pss(.sha384))
        case .ps512: .signature(.pss(.sha512))
        case .es256: .signature(.ecdsa(.sha256))
        case .es384: .signature(.ecdsa(.sha384))
        case .es512: .signature(.ecdsa(.sha512))
        case .edDSA: .signature(.ed25519)
        case .hs256: .hmac(.sha256)
        case .hs384: .hmac(.sha384)
        case .hs512: .hmac(.sha512)
        }
    }
}
