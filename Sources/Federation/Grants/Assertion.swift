import JOSE
import JSON
import OAuth
import Values

/// An assertion or ID token with a verified signature and checked claims (RFC 7523 §3, OpenID Connect Core §3.1.3.7).
struct Assertion: Sendable {
    /// In bytes: longer than any issuer's tokens. A longer one is not even parsed.
    static let longest = 16 * 1024
    static let longestLife: Duration = .hours(24)
    /// How far an issuer's clock may be ahead of ours.
    static let clockSkew: Duration = .seconds(60)

    let issuerUser: IssuerUser
    let expiresAt: Timestamp
    /// When the user signed in at the issuer; now if it does not say.
    let signedInAt: Timestamp
    let saysWhen: Bool
    /// Remembered, so that the assertion is used only once. One for this server alone could be used at every merchant
    /// that trusts its issuer, so its second fingerprint counts for all of them.
    let fingerprints: [Fingerprint<Assertion>]

    /// Checks the claims of `jwt`. `ours` are our own names: the issuer URL first, then the URLs of the token endpoint.
    /// `nonce` is the one that the request sent along.
    init(
        _ jwt: VerifiedJWT, by issuer: TrustedIssuer, to ours: [String], nonce: String? = nil, at now: Timestamp
    ) throws {
        guard try jwt.issuer.map(issuer.names.holds) == true else { throw OAuthError.assertionOfUnknownIssuer }
        guard jwt.isIDToken else { throw OAuthError.assertionType }
        guard let subject = try jwt.subject, Self.isStorable(subject) else { throw OAuthError.assertionSubject }
        guard let audience = try jwt.audience, audience.contains(where: (ours + issuer.audiences).holds) else {
            throw OAuthError.assertionAudience(ours, others: !issuer.audiences.isEmpty)
        }
        // Core §3.1.3.7 (3): any other audience has the token too, and could pass it on as its own, unless the issuer's
        // rules (below) limit which party may have requested it.
        guard !issuer.rules.authorizedParties.isEmpty || audience.allSatisfy((ours + issuer.audiences).holds) else {
            throw OAuthError.assertionOtherAudience
        }
        guard let expiresAt = try jwt.expiresAt else { throw OAuthError.assertionExpiryMissing }
        guard now < expiresAt else { throw OAuthError.assertionExpired }
        // Apple's tokens live for a day by Apple's clock, so the skew is added.
        guard expiresAt <= now + Self.longestLife + Self.clockSkew else { throw OAuthError.assertionLivesTooLong }
        if let notBefore = try jwt.notBefore, notBefore > now + Self.clockSkew { throw OAuthError.assertionNotYetValid }
        if let issuedAt = try jwt.issuedAt, issuedAt > now + Self.clockSkew { throw OAuthError.assertionFromTheFuture }
        try issuer.rules.check(jwt, nonce: nonce, at: now)

        self.issuerUser = IssuerUser(jwt.claims, subject: subject, of: issuer)
        self.expiresAt = expiresAt
        self.signedInAt = try Self.signIn(jwt, at: now)
        self.saysWhen = try jwt.signedInAt != nil
        // By the issuer's name, which it keeps when it is registered anew. Hashes the signed text, not the token: every
        // ECDSA signature has a second form that verifies too.
        let names = (issuer.merchant.text, issuer.issuer)
        let first =
            if let identifier = try jwt.identifier, !identifier.isEmpty {
                Self.fingerprint(names.0, names.1, "jti", identifier)
            } else {
                Self.fingerprint(names.0, names.1, "assertion", jwt.signedText)
            }
        let apps = issuer.audiences.filter { !ours.holds($0) }
        let isForUsAlone = !audience.contains(where: apps.holds)
        // By the text, which only its bearers know, so that no other party can use up a `jti`.
        self.fingerprints = isForUsAlone ? [first, Self.fingerprint("assertion", jwt.signedText)] : [first]
    }

    /// OpenID Connect Core §2: `auth_time` is when the user signed in.
    private static func signIn(_ jwt: VerifiedJWT, at now: Timestamp) throws -> Timestamp {
        min(try jwt.signedInAt ?? now, now)
    }

    private static func isStorable(_ subject: String) -> Bool {
        (1...255).contains(subject.unicodeScalars.count)
            && !subject.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    }

    /// Prefixes each part with its length, so that different lists of parts give different texts.
    private static func fingerprint(_ parts: String...) -> Fingerprint<Assertion> {
        Fingerprint(of: parts.map { "\($0.utf8.count):\($0)" }.joined())
    }
}

/// JWTs of an issuer that are signed with one key, and told apart by their explicit type (RFC 8725 §3.11).
extension VerifiedJWT {
    /// Whether the token is meant to identify a user, and is no other kind of JWT. An access token shows its type
    /// (`at+jwt`, RFC 9068 §2.1), or is not for the client that it names. A logout token, which should show it too, and
    /// any other event have at least an `events` claim (Back-Channel Logout §2.4, RFC 8417 §2.2).
    var isIDToken: Bool { isOfNoOtherKind && claims["events"] == nil && isForItsClient }

    /// Whether its type, if it has one, names no other kind of JWT.
    var isOfNoOtherKind: Bool { isTyped(asOneOf: ["jwt", "application/jwt"]) }
}
