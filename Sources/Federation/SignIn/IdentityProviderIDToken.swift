import Cryptography
import JOSE
import JSON
import Values

/// An ID token for a redeemed code, with a verified signature and checked claims (OpenID Connect Core §3.1.3.7).
struct IdentityProviderIDToken: Sendable {
    let subject: String
    /// When the user signed in there; nil when the token does not say.
    let signedInAt: Timestamp?
    let claims: JSON

    /// What the claims are checked against.
    struct Expectation {
        let names: [String]
        /// Our client id there.
        let client: String
        let otherParties: [String]
        let nonce: String
        let accessToken: String?
    }

    private static let clockSkew: Duration = .seconds(60)

    /// Checks the claims in the order of §3.1.3.7. The numbers are those of its steps.
    init(_ jwt: VerifiedJWT, _ expected: Expectation, at now: Timestamp) throws {
        guard jwt.isIDToken else { throw Self.refusal("typ") }
        // 2
        guard let issuer = try jwt.issuer, expected.names.holds(issuer)
        else { throw Self.refusal("iss") }
        // 3
        guard let audience = try jwt.audience, audience.holds(expected.client) else { throw Self.refusal("aud") }
        // 3: another audience that we do not trust could have received the token itself, and passed it on.
        guard audience.allSatisfy(([expected.client] + expected.otherParties).holds) else {
            throw Self.refusal("aud of another")
        }
        // 4, 5
        guard audience.count == 1 || jwt.claims["azp"] != nil else { throw Self.refusal("azp") }
        if let party = jwt.claims["azp"] {
            guard let party = party.string, ([expected.client] + expected.otherParties).holds(party) else {
                throw Self.refusal("azp")
            }
        }
        // 9, 10
        guard let expiresAt = try jwt.expiresAt, now < expiresAt + Self.clockSkew else { throw Self.refusal("exp") }
        guard let issuedAt = try jwt.issuedAt, issuedAt <= now + Self.clockSkew else { throw Self.refusal("iat") }
        if let notBefore = try jwt.notBefore, notBefore > now + Self.clockSkew { throw Self.refusal("nbf") }
        // 11
        guard let nonce = jwt.claims["nonce"]?.string, constantTimeEqual(nonce.utf8, expected.nonce.utf8) else {
            throw Self.refusal("nonce")
        }
        // §3.1.3.8
        if let hash = jwt.claims["at_hash"], let token = expected.accessToken {
            guard let own = Self.hash(of: token, signedBy: jwt.header["alg"]?.string ?? ""), hash.string == own else {
                throw Self.refusal("at_hash")
            }
        }
        guard let subject = try jwt.subject, Self.isStorable(subject) else { throw Self.refusal("sub") }
        self.subject = subject
        signedInAt = Self.signIn(jwt.claims, at: now)
        claims = jwt.claims
    }

    private static func refusal(_ claim: String) -> IdentityProviderRefusal { .mistrusted(reason: "id_token \(claim)") }

    /// The left half of the digest that belongs to the signature's algorithm.
    private static func hash(of token: String, signedBy algorithm: String) -> String? {
        let digest: [UInt8]
        switch algorithm.suffix(3) {
        case "256": digest = Digest.sha256(token.utf8)
        case "384": digest = Digest.sha384(token.utf8)
        // Ed25519 uses SHA-512.
        case "512", "DSA": digest = Digest.sha512(token.utf8)
        default: return nil
        }
        return Base64URL.encode(Array(digest.prefix(digest.count / 2)))
    }

    /// A time ahead of our clock, within the skew, counts as now: no sign-in is in the future.
    private static func signIn(_ claims: JSON, at now: Timestamp) -> Timestamp? {
        guard let seconds = claims["auth_time"]?.integer, (1...(now + clockSkew).seconds).contains(seconds),
            let moment = Timestamp(seconds: seconds)
        else { return nil }
        return min(moment, now)
    }

    private static func isStorable(_ subject: String) -> Bool {
        (1...255).contains(subject.unicodeScalars.count)
            && !subject.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    }
}
