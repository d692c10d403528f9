import JOSE
import JSON
import OAuth
import Values

/// An assertion or ID token whose signature was verified and whose claims hold (RFC 7523 §3, OpenID Connect Core §3.1.3.7).
struct Assertion: Sendable {
    /// Above what any issuer sends; a longer one is not even taken apart.
    static let longest = 16 * 1024
    static let longestLife: Duration = .hours(24)
    /// How far an issuer's clock may be ahead of ours.
    static let clockSkew: Duration = .seconds(60)

    let person: IssuerUser
    let expiresAt: Timestamp
    /// When the person signed in there, or now.
    let signedInAt: Timestamp
    /// What is remembered so that it is not taken twice.
    let fingerprint: Fingerprint<Assertion>

    /// Judges the claims of `jwt`. `ours` are our own names: the issuer's, then those of the token endpoint. `nonce` is what
    /// came beside it.
    init(
        _ jwt: VerifiedJWT, by issuer: TrustedIssuer, to ours: [String], nonce: String? = nil, at now: Timestamp
    ) throws {
        guard try jwt.issuer.map(issuer.names.contains) == true else { throw OAuthError.assertionOfUnknownIssuer }
        guard Self.isMeantForSignIn(jwt) else { throw OAuthError.assertionType }
        guard let subject = try jwt.subject, Self.isStorable(subject) else { throw OAuthError.assertionSubject }
        guard let audience = try jwt.audience, audience.contains(where: (ours + issuer.audiences).contains) else {
            throw OAuthError.assertionAudience(ours, others: !issuer.audiences.isEmpty)
        }
        // Core §3.1.3.7 (3): whoever else it was made for has it too, and could hand it on as if it were theirs; unless the
        // rules, below, say who may have asked for it.
        guard !issuer.rules.authorizedParties.isEmpty || audience.allSatisfy((ours + issuer.audiences).contains) else {
            throw OAuthError.assertionOtherAudience
        }
        guard let expiresAt = try jwt.expiresAt else { throw OAuthError.assertionExpiryMissing }
        guard now < expiresAt else { throw OAuthError.assertionExpired }
        // Apple's live a day, by Apple's clock.
        guard expiresAt <= now + Self.longestLife + Self.clockSkew else { throw OAuthError.assertionLivesTooLong }
        if let notBefore = try jwt.notBefore, notBefore > now + Self.clockSkew { throw OAuthError.assertionNotYetValid }
        if let issuedAt = try jwt.issuedAt, issuedAt > now + Self.clockSkew { throw OAuthError.assertionFromTheFuture }
        try issuer.rules.check(jwt, nonce: nonce, at: now)

        self.person = IssuerUser(jwt.claims, subject: subject, of: issuer)
        self.expiresAt = expiresAt
        self.signedInAt = Self.signIn(jwt, at: now)
        // The signed text and not the token: an ECDSA signature has a twin that verifies as well.
        self.fingerprint =
            if let identifier = try jwt.identifier, !identifier.isEmpty {
                Self.fingerprint(issuer.id.text, "jti", identifier)
            } else {
                Self.fingerprint(issuer.id.text, "assertion", jwt.signedText)
            }
    }

    /// Whether it is what says who somebody is, and not another of the issuer's JWTs (RFC 8725 §3.11): an access token
    /// (`at+jwt`) says so in its type, a logout token, or another event, at least by its `events` (RFC 8417 §2.2).
    private static func isMeantForSignIn(_ jwt: VerifiedJWT) -> Bool {
        let type = jwt.header["typ"].map { $0.string?.lowercased() ?? "" } ?? "jwt"
        return (type == "jwt" || type == "application/jwt") && jwt.claims["events"] == nil
    }

    /// OpenID Connect Core §2: `auth_time` is when the person signed in.
    private static func signIn(_ jwt: VerifiedJWT, at now: Timestamp) -> Timestamp {
        guard let seconds = jwt.claims["auth_time"]?.integer, (0...now.seconds).contains(seconds),
            let moment = Timestamp(seconds: seconds)
        else { return now }
        return moment
    }

    private static func isStorable(_ subject: String) -> Bool {
        (1...255).contains(subject.unicodeScalars.count)
            && !subject.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    }

    /// Each part with its length, so that no two lists of parts read alike.
    private static func fingerprint(_ parts: String...) -> Fingerprint<Assertion> {
        Fingerprint(of: parts.map { "\($0.utf8.count):\($0)" }.joined())
    }
}
