import JOSE
public import Keys
import OAuth
import Values

/// Verifies the signature of an assertion with the keys of its issuer, wherever those are.
public struct AssertionVerifier: Sendable {
    private let published: IssuerKeys
    private let seal: Seal

    public init(published: IssuerKeys, seal: Seal) {
        self.published = published
        self.seal = seal
    }

    func verify(_ assertion: String, of issuer: TrustedIssuer) async throws -> VerifiedJWT {
        let keys: AssertionKeys
        switch issuer.keys {
        case .keySet(let text): keys = try AssertionKeys(keySet: text)
        case .secret(let sealed):
            keys = AssertionKeys(secret: try seal.open(sealed, .issuerSecret, row: issuer.id.text))
        // A provider of which nothing but access tokens is taken.
        case nil: throw OAuthError.assertionOfUnknownIssuer
        case .address(let address): return try await verify(assertion, of: issuer, publishedAt: address)
        }
        return try await keys.verify(assertion, allowed: issuer.algorithms)
    }

    private func verify(
        _ assertion: String, of issuer: TrustedIssuer, publishedAt address: String
    ) async throws -> VerifiedJWT {
        do {
            let keys = try await published.keys(at: address)
            do throws(JWTRejection) {
                return try await keys.verify(assertion, allowed: issuer.algorithms)
            } catch .unknownKey {
                // The issuer may have begun to sign with a new key.
                return try await published.keysAnew(at: address).verify(assertion, allowed: issuer.algorithms)
            }
        } catch let unavailable as IssuerKeys.Unavailable {
            throw OAuthError.issuerKeysUnavailable(issuer.id, unavailable.reason)
        }
    }
}
