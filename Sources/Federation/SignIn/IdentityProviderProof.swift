import Cryptography

/// How we authenticate as a client at another issuer's token endpoint (OpenID Connect Core §9).
enum IdentityProviderProof: Sendable, Equatable {
    case none
    case secretBasic
    case secretPost
    case secretJWT
    case privateKeyJWT(PrivateKey.Algorithm)

    /// The first of our methods that the issuer accepts. Throws when it accepts none of them.
    init(hasSecret: Bool, _ endpoints: IssuerEndpoints) throws(IdentityProviderRefusal) {
        let methods = Set(endpoints.authenticationMethods)
        if hasSecret {
            if methods.contains("client_secret_basic") { self = .secretBasic; return }
            if methods.contains("client_secret_post") { self = .secretPost; return }
            if methods.contains("client_secret_jwt"), Self.takes("HS256", endpoints) { self = .secretJWT; return }
        }
        if methods.contains("private_key_jwt"), let algorithm = Self.algorithm(endpoints) {
            self = .privateKeyJWT(algorithm)
            return
        }
        guard !hasSecret else {
            throw .unavailable(
                reason: "its token endpoint takes none of our ways to authenticate, but "
                    + methods.sorted().map { String($0.prefix(40)) }.prefix(8).joined(separator: ", "))
        }
        self = .none
    }

    /// The algorithms of our keys, the most widely accepted first.
    private static let ours: [PrivateKey.Algorithm] = [.rs256, .es256, .ps256, .edDSA]

    private static func algorithm(_ endpoints: IssuerEndpoints) -> PrivateKey.Algorithm? {
        ours.first { takes($0.rawValue, endpoints) }
    }

    /// An issuer that does not say is assumed to accept the usual algorithms (Core §10.1: RS256; HS256 for a secret).
    private static func takes(_ algorithm: String, _ endpoints: IssuerEndpoints) -> Bool {
        endpoints.authenticationAlgorithms?.contains(algorithm) ?? true
    }
}
