/// The signatures that are taken in other people's JWTs (RFC 7518 §3.1, RFC 8037). `none` is not among them.
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
