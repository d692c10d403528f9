import Cryptography
import JOSE
import JSON
import OAuth
import Values

extension IssuerRules {
    /// Checks `jwt` against the rules. `sent` is the nonce that the request sent along.
    func check(_ jwt: VerifiedJWT, nonce sent: String?, at now: Timestamp) throws {
        if !authorizedParties.isEmpty {
            guard let party = jwt.claims["azp"]?.string, authorizedParties.holds(party) else {
                throw OAuthError.assertionAuthorizedParty
            }
        }
        if let longestAge {
            guard let issuedAt = try jwt.issuedAt, now - issuedAt <= longestAge else {
                throw OAuthError.assertionTooOld(longestAge)
            }
        }
        try check(sent, against: jwt.claims["nonce"])
    }

    private func check(_ sent: String?, against told: JSON?) throws(OAuthError) {
        switch (nonce, sent, told) {
        case (.none, _, _), (.ifSent, nil, nil): return
        case (_, nil, _): throw .assertionNonceMissing
        case (_, let sent?, let told):
            guard let told = told?.string, constantTimeEqual(transformed(sent).utf8, told.utf8) else {
                throw .assertionNonce(nonceTransform)
            }
        }
    }

    private func transformed(_ nonce: String) -> String {
        switch nonceTransform {
        case .none: nonce
        case .sha256:
            Hexadecimal.encode(Digest.sha256(nonce.utf8))
        }
    }
}
