import JOSE
public import Keys
import OAuth
import Values

/// Verifies the signature of an assertion with its issuer's keys, wherever they are kept.
public struct AssertionVerifier: Sendable {
    private let published: IssuerKeys
    private let directory: IssuerDirectory
    private let seal: Seal

    public init(published: IssuerKeys, directory: IssuerDirectory, seal: Seal) {
        self.published = published
        self.directory = directory
        self.seal = seal
    }

    func verify(_ assertion: String, of issuer: TrustedIssuer) async throws -> VerifiedJWT {
        let keys: AssertionKeys
        switch issuer.keys {
        case .keySet(let text): keys = try AssertionKeys(keySet: text)
        case .secret(let sealed):
            keys = AssertionKeys(secret: try seal.open(sealed, .issuerSecret, row: issuer.id.text))
        case .address(let address): return try await verify(assertion, of: issuer, publishedAt: address)
        case .discovery(let address):
            let document = try await directory.document(at: address, of: issuer)
            return try await verify(assertion, of: issuer, publishedAt: document.keysAddress)
        }
        return try await keys.verify(assertion, allowed: issuer.algorithms)
    }

    private func verify(
        _ assertion: String, of issuer: TrustedIssuer, publishedAt address: String
    ) async throws -> VerifiedJWT {
        do {
            let keys = try await published.keys(at: address, for: issuer.documentShare)
            do throws(JWTRejection) {
                return try await keys.verify(assertion, allowed: issuer.algorithms)
            } catch let rejection where rejection.mayBeOfNewKey(assertion) {
                // The issuer may have started to sign with a new key.
                return try await published.keysAnew(at: address, for: issuer.documentShare).verify(
                    assertion, allowed: issuer.algorithms)
            }
        } catch let unavailable as DocumentUnavailable {
            throw OAuthError.issuerKeysUnavailable(issuer.id, unavailable.reason)
        }
    }
}
