/// How a signature is made and verified, apart from the key.
public enum SignatureScheme: Sendable, Hashable {
    /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2).
    case pkcs1(Digest.Function)
    /// RSASSA-PSS with MGF1 of the same digest and a salt as long as it (RFC 7518 §3.5).
    case pss(Digest.Function)
    /// ECDSA, as the bytes of r and s (RFC 7518 §3.4).
    case ecdsa(Digest.Function)
    /// Ed25519 (RFC 8032).
    case ed25519

    /// Nil for Ed25519, which has its digest built in and accepts no other.
    var function: Digest.Function? {
        switch self {
        case .pkcs1(let function), .pss(let function), .ecdsa(let function): function
        case .ed25519: nil
        }
    }
}
